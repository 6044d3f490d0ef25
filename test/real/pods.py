"""The objects that the scenarios use, as dictionaries for kubectl apply."""

import time

BUSYBOX = "docker.io/local/busybox:1"
NGINX = "registry.k8s.io/e2e-test-images/nginx:1.27-0"
NAMESPACE = "site"
LOOP = "while true; do sleep 1; done"


def namespace(name=NAMESPACE):
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def container(image=BUSYBOX, script=LOOP, **more):
    """A container that ends at once on SIGTERM."""
    return {"name": "main", "image": image, "imagePullPolicy": "IfNotPresent",
            "command": ["/bin/sh", "-c", "trap 'exit 0' TERM; " + script], **more}


def meta(name, **more):
    return {"name": name, "namespace": NAMESPACE, **more}


def pod_spec(*containers, **more):
    return {"terminationGracePeriodSeconds": 2, "containers": list(containers), **more}


def pod(name, spec, **more):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta(name, **more), "spec": spec}


def web(replicas=3, name="web", image=NGINX):
    """A Deployment of web servers with a readiness probe."""
    labels = {"app": name}
    server = {"name": "main", "image": image, "ports": [{"containerPort": 80}], "readinessProbe": {
        "httpGet": {"path": "/", "port": 80}, "periodSeconds": 1}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta(name), "spec": {
        "replicas": replicas, "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod_spec(server)}}}


def daemon(name="daemon"):
    labels = {"app": name}
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": meta(name), "spec": {
        "selector": {"matchLabels": labels}, "template": {
            "metadata": {"labels": labels}, "spec": pod_spec(container(), hostNetwork=True)}}}


def volume(folder):
    """A PersistentVolume in `folder` on the node, and the claim that is bound to it."""
    claim_name = "data"
    return (
        {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "site-data"}, "spec": {
            "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "",
            "persistentVolumeReclaimPolicy": "Retain", "hostPath": {"path": folder, "type": "DirectoryOrCreate"},
            "claimRef": {"namespace": NAMESPACE, "name": claim_name}}},
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta(claim_name), "spec": {
            "accessModes": ["ReadWriteOnce"], "storageClassName": "", "volumeName": "site-data",
            "resources": {"requests": {"storage": "1Gi"}}}},
    )


def claim_pod():
    """A pod that appends a line to a file in its claim at each start."""
    script = "echo started >>/data/starts; " + LOOP
    return pod("claim", pod_spec(
        container(script=script, volumeMounts=[{"name": "data", "mountPath": "/data"}]),
        volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]))


def token_pod():
    """A pod with a token for the audience "vault"; it fails if it cannot read the token."""
    source = {"serviceAccountToken": {"path": "token", "audience": "vault", "expirationSeconds": 3600}}
    return pod("token", pod_spec(
        container(script="test -s /tokens/token || exit 1; " + LOOP,
                  volumeMounts=[{"name": "tokens", "mountPath": "/tokens"}]),
        volumes=[{"name": "tokens", "projected": {"sources": [source]}}]))


def settings(value="one"):
    """The ConfigMap and the Secret of settings_pod."""
    return (
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta("settings"), "data": {"value": value}},
        {"apiVersion": "v1", "kind": "Secret", "metadata": meta("password"), "stringData": {"value": value}},
    )


def settings_pod():
    """A pod with a ConfigMap and a Secret, both as volumes and in its environment."""
    environment = [
        {"name": "SETTING", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "value"}}},
        {"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": "password", "key": "value"}}}]
    mounts = [{"name": "settings", "mountPath": "/settings"}, {"name": "password", "mountPath": "/password"}]
    script = 'test -s /settings/value && test -s /password/value && test -n "$SETTING$PASSWORD" || exit 1; ' + LOOP
    return pod("settings", pod_spec(
        container(script=script, env=environment, volumeMounts=mounts),
        volumes=[{"name": "settings", "configMap": {"name": "settings"}},
                 {"name": "password", "secret": {"secretName": "password"}}]))


def init_pod():
    """A pod with an init container that writes to an emptyDir in memory, which a power cut clears."""
    mounts = [{"name": "made", "mountPath": "/made"}]
    first = {**container(script="echo made >/made/file", volumeMounts=mounts), "name": "first"}
    return pod("init", pod_spec(
        container(script="test -s /made/file || exit 1; " + LOOP, volumeMounts=mounts), initContainers=[first],
        volumes=[{"name": "made", "emptyDir": {"medium": "Memory"}}]))


def job():
    """A Job that runs once; an outage must not make it run again."""
    spec = pod_spec(container(script="echo ran; exit 0"), restartPolicy="Never")
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta("once"), "spec": {"template": {"spec": spec}}}


def event(namespace, name):
    """An Event of the kubelet on edge1."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return {"apiVersion": "v1", "kind": "Event", "metadata": {"name": name, "namespace": namespace}, "type": "Normal",
            "involvedObject": {"kind": "Pod", "namespace": namespace, "name": "any"}, "reason": "Played",
            "source": {"component": "kubelet", "host": "edge1"}, "firstTimestamp": now, "lastTimestamp": now,
            "count": 1}


def one_of_each(folder):
    """All objects of the usual site. `folder` holds the claim's data on the node."""
    return [namespace(), *settings(), *volume(folder), claim_pod(), token_pod(), settings_pod(), init_pod(), web(),
            daemon(), job()]


PODS_OF_EACH = 3 + 1 + 5  # web; daemon; claim, token, settings, init, once
