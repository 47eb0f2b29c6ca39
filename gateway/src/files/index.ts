/**
 * files: files of a workspace, stored by the gateway, and uploads in parts.
 *
 * row       written first; it has the hash of the bytes before they are stored, so that nothing is stored without a row
 * bytes     a blob by its SHA-256; equal bytes are stored once
 * worker    removes the bytes of deleted and expired files, and what a process left that died
 *
 * Promises: a file is whole or missing. Files are streamed, never held in memory. A file of another workspace looks missing. A deleted
 * file is missing at once, its bytes are removed soon after. While the blob store is down, files cannot be created or read.
 */
export type { FileOwner, NewFile } from "./arriving-files.ts";
export type { FilesDependencies } from "./dependencies.ts";
export { fileContent } from "./file-content.ts";
export { createFileStore, type FileStore } from "./file-store.ts";
export { expiredFile, Files } from "./files.ts";
export { mediaTypeOf } from "./media-type.ts";
