"""GetKeyList: the signed list of public keys, and the same in the contract's words."""

from __future__ import annotations

from fairroll.key_list import Key, KeyStatus, KeyUse
from fairroll.keys import ServiceKeys
from fairroll.receipt import envelope_message
from fairroll.v1 import key_list_pb2, service_pb2

_USES = {KeyUse.VRF: key_list_pb2.KEY_USE_VRF, KeyUse.RECEIPT: key_list_pb2.KEY_USE_RECEIPT}
_STATUSES = {
    KeyStatus.ACTIVE: key_list_pb2.KEY_STATUS_ACTIVE,
    KeyStatus.RETIRED: key_list_pb2.KEY_STATUS_RETIRED,
    KeyStatus.REVOKED: key_list_pb2.KEY_STATUS_REVOKED,
}


def get_key_list(keys: ServiceKeys) -> service_pb2.GetKeyListResponse:
    """Return the service's list as it was signed, decoded, and the root key that signed it."""
    listed = keys.key_list
    return service_pb2.GetKeyListResponse(
        envelope=envelope_message(keys.envelope),
        key_list=key_list_pb2.KeyList(
            origin=listed.origin, list_version=listed.list_version, keys=[_key_message(key) for key in listed.keys]
        ),
        root_key=keys.root_public_key,
    )


def _key_message(key: Key) -> key_list_pb2.Key:
    return key_list_pb2.Key(
        key_id=key.key_id,
        use=_USES[key.use],
        alg=key.alg,
        public_key=key.public_key,
        epoch=key.epoch,
        status=_STATUSES[key.status],
        development=key.development,
    )
