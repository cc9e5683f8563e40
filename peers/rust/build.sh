#!/bin/sh
# Builds the Rust peers from crates that lie in a folder, as Debian's do; without network.
# build.sh CARGO CRATES SOURCE_DIR WORK_DIR OUTPUT
set -eu
cargo=$1 crates=$2 source=$3 work=$4 output=$5

# A copy, because cargo leaves its lock file beside the sources.
mkdir -p -- "$work/src"
cp -- "$source/Cargo.toml" "$work/"
cp -- "$source/src/lib.rs" "$work/src/"
CARGO_HOME=$work/home CARGO_TARGET_DIR=$work/target
export CARGO_HOME CARGO_TARGET_DIR
unset RUSTFLAGS
"$cargo" build --quiet --release --offline --manifest-path "$work/Cargo.toml" \
    --config 'source.crates-io.replace-with="folder"' \
    --config "source.folder.directory=\"$crates\""
cp -- "$work/target/release/librwsem_rust_peers.a" "$output"
