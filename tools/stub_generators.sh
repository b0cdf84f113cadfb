#!/bin/sh
# Sees to it that protoc and its plugins for Go and Java are there: installs Debian's where one is missing.
set -eu
for name in protoc protoc-gen-go protoc-gen-go-grpc grpc_java_plugin; do
    if command -v "$name" >/dev/null; then continue; fi
    exec sh "$(dirname "$0")/debian.sh" \
        protobuf-compiler protoc-gen-go protoc-gen-go-grpc protobuf-compiler-grpc-java-plugin
done
