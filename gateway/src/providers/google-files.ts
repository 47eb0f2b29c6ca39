import { objectOf, textOf } from "#protocols/index.ts";
import type { FileRequest, SentFile, VendorFile } from "./file-request.ts";

/** Requests for files of Gemini's API. `root`: with the version. https://ai.google.dev/api/files, read on 2026-11-24. */

/** Uploads and downloads have a word before the version in their path. */
export function besideVersion(root: string, word: "upload" | "download"): string {
  const version = /\/(v\d\w*)$/.exec(root)?.[1] ?? "v1beta";
  return `${root.replace(/\/v\d\w*$/, "")}/${word}/${version}`;
}

export function beginGoogleUpload(root: string, { filename, mediaType, sizeBytes }: SentFile): FileRequest {
  const body = JSON.stringify({ file: { displayName: filename, mimeType: mediaType } });
  return {
    method: "POST",
    url: `${besideVersion(root, "upload")}/files`,
    headers: {
      "content-type": "application/json",
      "x-goog-upload-protocol": "resumable",
      "x-goog-upload-command": "start",
      "x-goog-upload-header-content-length": String(sizeBytes),
      "x-goog-upload-header-content-type": mediaType,
    },
    body: new TextEncoder().encode(body),
    form: null,
  };
}

/** The request for the bytes. null: the answer names no place in the account. */
export function googleUpload(
  root: string,
  { mediaType }: Pick<SentFile, "mediaType">,
  header: (name: string) => string | null,
): FileRequest | null {
  const url = header("x-goog-upload-url");
  // The credential goes only to the account's own host.
  if (url === null || !URL.canParse(url) || new URL(url).host !== new URL(root).host) return null;
  const command = { "x-goog-upload-command": "upload, finalize", "x-goog-upload-offset": "0" };
  return { method: "POST", url, headers: { ...command, "content-type": mediaType }, body: "file", form: null };
}

/** null: the answer names no file. */
export function readGoogleFile(answer: unknown): VendorFile | null {
  const outer = objectOf(answer);
  const file = outer["file"] === undefined ? outer : objectOf(outer["file"]);
  const [id, uri] = [textOf(file["name"]), textOf(file["uri"])];
  if (id === null || uri === null || !/^files\/[\w-]{1,256}$/.test(id)) return null;
  const expiresAt = Date.parse(textOf(file["expirationTime"]) ?? "");
  const state = textOf(file["state"]);
  return { id, uri, expiresAt: Number.isNaN(expiresAt) ? null : expiresAt, isReady: state !== "PROCESSING" };
}
