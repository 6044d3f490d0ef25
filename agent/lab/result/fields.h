// The names of a result's fields in JSON, once for writing and reading. Internal to json.cpp.

#pragma once

#include "agent/lab/result/result.h"

namespace holdfast::agent::lab {

// Fields<T>::visit(visitor, value) calls visitor(name, field) for each field of `value`, which may
// be const.
template <class T>
struct Fields;

template <>
struct Fields<Span> {
  template <class Visitor, class Value>
  static void visit(Visitor& visitor, Value& value) {
    visitor("begin", value.begin);
    visitor("end", value.end);
    visitor("state", value.state);
  }
};

template <>
struct Fields<NodeResult> {
  template <class Visitor, class Value>
  static void visit(Visitor& visitor, Value& value) {
    visitor("name", value.name);
    visitor("site", value.site);
    visitor("link", value.link);
    visitor("power", value.power);
    visitor("ready", value.ready);
    visitor("taints", value.taints);
    visitor("withheld", value.withheld);
    visitor("bytes", value.bytes);
  }
};

template <>
struct Fields<PodResult> {
  template <class Visitor, class Value>
  static void visit(Visitor& visitor, Value& value) {
    visitor("name", value.name);
    visitor("uid", value.uid);
    visitor("workload", value.workload);
    visitor("node", value.node);
    visitor("site", value.site);
    visitor("created", value.created);
    visitor("evicted", value.evicted);
    visitor("deleted", value.deleted);
    visitor("restarts", value.restarts);
    visitor("running", value.running);
  }
};

template <>
struct Fields<WorkloadResult> {
  template <class Visitor, class Value>
  static void visit(Visitor& visitor, Value& value) {
    visitor("name", value.name);
    visitor("site", value.site);
    visitor("wanted", value.wanted);
    visitor("evicted", value.evicted);
    visitor("restarted", value.restarted);
    visitor("unavailable", value.unavailable);
    visitor("shortfall", value.shortfall);
  }
};

template <>
struct Fields<RequestClass> {
  template <class Visitor, class Value>
  static void visit(Visitor& visitor, Value& value) {
    visitor("name", value.name);
    visitor("requests", value.requests);
    visitor("bytes", value.bytes);
  }
};

template <>
struct Fields<Series> {
  template <class Visitor, class Value>
  static void visit(Visitor& visitor, Value& value) {
    visitor("name", value.name);
    visitor("interval", value.interval);
    visitor("values", value.values);
  }
};

template <>
struct Fields<FaultMark> {
  template <class Visitor, class Value>
  static void visit(Visitor& visitor, Value& value) {
    visitor("at", value.at);
    visitor("until", value.until);
    visitor("what", value.what);
    visitor("target", value.target);
  }
};

template <>
struct Fields<ExpectationResult> {
  template <class Visitor, class Value>
  static void visit(Visitor& visitor, Value& value) {
    visitor("text", value.text);
    visitor("met", value.met);
    visitor("found", value.found);
  }
};

template <>
struct Fields<Violation> {
  template <class Visitor, class Value>
  static void visit(Visitor& visitor, Value& value) {
    visitor("at", value.at);
    visitor("invariant", value.invariant);
    visitor("what", value.what);
    visitor("lastEvents", value.last_events);
  }
};

template <>
struct Fields<RunResult> {
  template <class Visitor, class Value>
  static void visit(Visitor& visitor, Value& value) {
    visitor("scenario", value.scenario);
    visitor("about", value.about);
    visitor("mode", value.mode);
    visitor("seed", value.seed);
    visitor("duration", value.duration);
    visitor("settings", value.settings);
    visitor("nodes", value.nodes);
    visitor("pods", value.pods);
    visitor("workloads", value.workloads);
    visitor("requests", value.requests);
    visitor("requestsPerSecond", value.requests_per_second);
    visitor("series", value.series);
    visitor("faults", value.faults);
    visitor("expectations", value.expectations);
    visitor("violation", value.violation);
    visitor("events", value.events);
    visitor("duplicates", value.duplicates);
  }
};

}  // namespace holdfast::agent::lab
