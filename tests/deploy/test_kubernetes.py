"""deploy/kubernetes as a cluster would get it: rendered, validated strictly, and held to what the service needs."""

import subprocess
import sysconfig
import tomllib
from pathlib import Path
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]  # it ships no types
import pytest
import yaml

from fairroll.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = Path(sysconfig.get_path("scripts"))
# The oldest and the newest that the manifests are held to.
VERSIONS = ("1.31", "1.37")


def rendered() -> list[dict[str, Any]]:
    done = subprocess.run(
        [SCRIPTS / "kubectl", "kustomize", ROOT / "deploy/kubernetes/base"], capture_output=True, text=True, check=True
    )
    return list(yaml.safe_load_all(done.stdout))


OBJECTS = rendered()
BY_NAME = {(each["kind"], each["metadata"]["name"]): each for each in OBJECTS}
DEPLOYMENT = BY_NAME["Deployment", "fairroll"]["spec"]
POD = DEPLOYMENT["template"]["spec"]
CONTAINER = POD["containers"][0]
LABELS = DEPLOYMENT["template"]["metadata"]["labels"]
PORTS = {port["name"]: port["containerPort"] for port in CONTAINER["ports"]}
SECRETS = {each["name"]: each["secret"]["secretName"] for each in POD["volumes"]}


def test_the_files_are_clean_yaml() -> None:
    config = ROOT / "deploy/yamllint.yaml"
    done = subprocess.run(
        [SCRIPTS / "yamllint", "--strict", "--config-file", config, ROOT / "deploy"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("each", OBJECTS, ids=[f"{kind}-{name}" for kind, name in BY_NAME])
def test_each_object_is_one_of_the_api_and_has_no_field_more(each: dict[str, Any], version: str) -> None:
    kubernetes_validate.validate(each, version, strict=True)


def test_the_validation_would_see_a_misspelt_field() -> None:
    wrong = {**BY_NAME["Deployment", "fairroll"], "spec": {**DEPLOYMENT, "minReadySecond": 1}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSIONS[-1], strict=True)


def test_everything_but_the_namespace_is_in_the_namespace() -> None:
    assert {each["metadata"].get("namespace") for each in OBJECTS if each["kind"] != "Namespace"} == {"fairroll"}


# The pod


def test_the_image_is_of_this_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert CONTAINER["image"].rpartition(":")[2] == version


def test_the_ports_are_those_that_the_image_exposes() -> None:
    exposed = next(
        line.split()[1:] for line in (ROOT / "Dockerfile").read_text().splitlines() if line.startswith("EXPOSE")
    )
    assert [str(PORTS[name]) for name in ("grpc", "rest", "admin")] == exposed


def test_it_is_restricted_as_far_as_the_api_goes() -> None:
    assert POD["securityContext"] | {"seccompProfile": POD["securityContext"]["seccompProfile"]["type"]} == {
        "runAsNonRoot": True,
        "runAsUser": 10001,
        "runAsGroup": 10001,
        "fsGroup": 10001,
        "seccompProfile": "RuntimeDefault",
    }
    assert CONTAINER["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert POD["automountServiceAccountToken"] is False
    assert BY_NAME["ServiceAccount", POD["serviceAccountName"]]["automountServiceAccountToken"] is False
    namespace = BY_NAME["Namespace", "fairroll"]["metadata"]["labels"]
    assert namespace["pod-security.kubernetes.io/enforce"] == "restricted"


def test_the_user_is_the_one_of_the_image() -> None:
    assert "USER 10001:10001" in (ROOT / "Dockerfile").read_text().splitlines()


def test_it_is_asked_over_grpc_whether_it_takes_calls_and_over_http_whether_it_lives() -> None:
    assert CONTAINER["readinessProbe"]["grpc"] == {"port": PORTS["grpc"]}
    assert CONTAINER["livenessProbe"]["httpGet"] == {"path": "/livez", "port": "admin"}
    assert CONTAINER["startupProbe"]["httpGet"] == {"path": "/readyz", "port": "admin"}


def test_it_has_the_time_to_drain_and_to_stop() -> None:
    settings = {each["name"]: each["value"] for each in CONTAINER["env"]}
    drain = float(settings["FAIRROLL_DRAIN_SECONDS"])
    stop = float(settings.get("FAIRROLL_STOP_SECONDS", Settings.model_fields["stop_seconds"].default))
    assert POD["terminationGracePeriodSeconds"] > drain + stop
    probe = CONTAINER["readinessProbe"]
    # Long enough that who sends calls has seen it.
    assert drain > probe["periodSeconds"] * probe["failureThreshold"]


def test_keys_come_by_reference_to_secrets_and_stand_nowhere() -> None:
    assert SECRETS == {"keys": "fairroll-keys", "api-keys": "fairroll-api-keys"}
    assert not [each for each in OBJECTS if each["kind"] == "Secret"]
    mounts = {each["name"]: each for each in CONTAINER["volumeMounts"]}
    assert all(each["readOnly"] and "subPath" not in each for each in mounts.values())
    # No one but the user's group: the service refuses more.
    assert {each["secret"]["defaultMode"] for each in POD["volumes"]} == {0o440}
    settings = {each["name"]: each["value"] for each in CONTAINER["env"]}
    assert settings["FAIRROLL_API_KEYS"].startswith(f"{mounts['api-keys']['mountPath']}/")
    assert mounts["keys"]["mountPath"] == "/etc/fairroll/keys"


def test_every_setting_is_one_of_the_service() -> None:
    config = next(each["data"] for each in OBJECTS if each["kind"] == "ConfigMap")
    named = {*config, *(each["name"] for each in CONTAINER["env"])}
    assert named <= {f"FAIRROLL_{name.upper()}" for name in Settings.model_fields}


def test_it_says_what_it_needs_and_is_not_throttled() -> None:
    assert set(CONTAINER["resources"]["requests"]) == {"cpu", "memory"}
    assert set(CONTAINER["resources"]["limits"]) == {"memory"}


def test_replicas_are_spread_over_machines_and_zones() -> None:
    spread = POD["topologySpreadConstraints"]
    assert {each["topologyKey"] for each in spread} == {"kubernetes.io/hostname", "topology.kubernetes.io/zone"}
    assert all(each["labelSelector"]["matchLabels"].items() <= LABELS.items() for each in spread)


# What is around it


def test_grpc_clients_see_every_replica_and_rest_clients_one_address() -> None:
    grpc, rest = (BY_NAME["Service", f"fairroll-{name}"]["spec"] for name in ("grpc", "rest"))
    assert grpc["clusterIP"] == "None"
    assert "clusterIP" not in rest
    assert [(port["targetPort"], port["port"]) for port in grpc["ports"]] == [("grpc", PORTS["grpc"])]
    assert [(port["targetPort"], port["port"]) for port in rest["ports"]] == [("rest", 80)]


@pytest.mark.parametrize(
    ("kind", "name", "path"),
    [
        ("Service", "fairroll-grpc", "selector"),
        ("Service", "fairroll-rest", "selector"),
        ("PodDisruptionBudget", "fairroll", "selector.matchLabels"),
        ("NetworkPolicy", "fairroll", "podSelector.matchLabels"),
        ("Deployment", "fairroll", "selector.matchLabels"),
    ],
)
def test_all_of_them_mean_these_pods(kind: str, name: str, path: str) -> None:
    found = BY_NAME[kind, name]["spec"]
    for part in path.split("."):
        found = found[part]
    assert found
    assert found.items() <= LABELS.items()


def test_some_replica_is_always_there() -> None:
    scaler = BY_NAME["HorizontalPodAutoscaler", "fairroll"]["spec"]
    assert scaler["scaleTargetRef"] == {"apiVersion": "apps/v1", "kind": "Deployment", "name": "fairroll"}
    # The autoscaler owns the number: one in the deployment would be put back at every apply.
    assert "replicas" not in DEPLOYMENT
    assert BY_NAME["PodDisruptionBudget", "fairroll"]["spec"]["maxUnavailable"] < scaler["minReplicas"]
    assert DEPLOYMENT["strategy"]["rollingUpdate"]["maxUnavailable"] == 0


def test_it_calls_nobody() -> None:
    policy = BY_NAME["NetworkPolicy", "fairroll"]["spec"]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    assert policy.get("egress", []) == []
