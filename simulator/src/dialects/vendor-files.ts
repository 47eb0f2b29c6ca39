import { Refusal } from "../dialect.ts";
import type { HeaderRow } from "../outlet.ts";
import type { SimulatorRequest } from "../request.ts";
import { openAiError } from "./openai-conventions.ts";

type FileVendor = "openai" | "anthropic" | "gemini";

/** A file that an account received. Only its hash is stored, and the rows of Gemini's batches. */
interface VendorFileRecord {
  readonly vendor: FileVendor;
  /** The credential of the account. */
  readonly account: string;
  /** As the vendor names it: `file-…`, `file_…` or `files/…`. */
  readonly id: string;
  readonly filename: string;
  readonly media_type: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly purpose: string | null;
  deleted: boolean;
}

interface FileAnswer {
  readonly status: number;
  readonly body: string;
  readonly headers?: readonly HeaderRow[];
}

/** The files of OpenAI's, Anthropic's and Gemini's accounts. */
export interface VendorFiles {
  /** null: the request is for another endpoint. */
  answer(request: SimulatorRequest): FileAnswer | null;
  /** Oldest first, deleted ones too. */
  list(): readonly VendorFileRecord[];
  /** The content of a JSON lines file that a Gemini account received; null: there is none. */
  text(account: string, id: string): string | null;
}

const pathPattern = /(?:^|\/)v1(?:beta)?\/files(?:\/([^/:]+))?$/;
const filesMax = 1_000;
const created = "2026-01-01T00:00:00Z";

/** Stored in memory until the simulator ends. */
export function createVendorFiles(): VendorFiles {
  const files: VendorFileRecord[] = [];
  /** Resumable uploads that have begun, by their id. */
  const begun = new Map<string, { readonly displayName: string; readonly mimeType: string }>();
  const texts = new WeakMap<VendorFileRecord, string>();
  let sequence = 0;

  function keep(record: Omit<VendorFileRecord, "deleted">): VendorFileRecord {
    if (files.length >= filesMax) files.shift();
    const made = { ...record, deleted: false };
    files.push(made);
    return made;
  }

  function find(vendor: FileVendor, account: string, id: string): VendorFileRecord {
    const file = files.find((one) => one.vendor === vendor && one.account === account && one.id === id && !one.deleted);
    if (file === undefined) throw new Refusal(404, `No such File object: ${id}`, { param: "id" });
    return file;
  }

  function createFromForm(vendor: "openai" | "anthropic", account: string, { upload }: SimulatorRequest): object {
    const part = upload?.parts.find(({ name }) => name === "file");
    const purpose = upload?.parts.find(({ name }) => name === "purpose")?.value ?? null;
    if (part === undefined) throw new Refusal(400, "'file' is a required property", { param: "file" });
    if (vendor === "openai" && purpose === null) {
      throw new Refusal(400, "'purpose' is a required property", { param: "purpose" });
    }
    const id = vendor === "openai" ? `file-sim${++sequence}` : `file_sim${++sequence}`;
    const facts = { filename: part.filename ?? "", media_type: part.content_type ?? "", purpose };
    return objectOf(keep({ vendor, account, id, ...facts, bytes: part.size, sha256: part.sha256 }));
  }

  function uploadPiece(account: string, request: SimulatorRequest): FileAnswer {
    const command = request.headers["x-goog-upload-command"];
    const status = (text: string): HeaderRow => ["x-goog-upload-status", text];
    if (command === "start") {
      const { file } = JSON.parse(new TextDecoder().decode(request.body)) as { file?: Record<string, string> };
      const id = `up${++sequence}`;
      const mimeType = file?.["mimeType"] ?? request.headers["x-goog-upload-header-content-type"] ?? "";
      begun.set(id, { displayName: file?.["displayName"] ?? "", mimeType });
      const url = `http://${request.headers["host"]}${request.path}?upload_id=${id}`;
      return { status: 200, body: "", headers: [["x-goog-upload-url", url], status("active")] };
    }
    const id = new URLSearchParams(request.query).get("upload_id") ?? "";
    const upload = begun.get(id);
    if (upload === undefined || command !== "upload, finalize") throw new Refusal(400, "Upload is not active.");
    begun.delete(id);
    const { body } = request;
    const file = keep({
      ...{ vendor: "gemini", account, id: `files/sim${++sequence}`, purpose: null },
      ...{ filename: upload.displayName, media_type: upload.mimeType, bytes: body.length },
      sha256: Bun.CryptoHasher.hash("sha256", body, "hex"),
    });
    if (/\bjsonl$/.test(upload.mimeType)) texts.set(file, new TextDecoder().decode(body));
    const host = `http://${request.headers["host"]}`;
    return { status: 200, body: JSON.stringify({ file: geminiObject(file, host) }), headers: [status("final")] };
  }

  function execute(vendor: FileVendor, account: string, request: SimulatorRequest, id: string | null): FileAnswer {
    const { method, headers } = request;
    const host = `http://${headers["host"]}`;
    const shown = (file: VendorFileRecord) => (vendor === "gemini" ? geminiObject(file, host) : objectOf(file));
    const good = (value: object): FileAnswer => ({ status: 200, body: JSON.stringify(value) });
    if (id === null && method === "GET") {
      const data = files.filter((one) => one.vendor === vendor && one.account === account && !one.deleted).map(shown);
      return good(vendor === "gemini" ? { files: data } : { object: "list", data: data.toReversed(), has_more: false });
    }
    if (id === null && method === "POST") {
      if (vendor === "gemini") return uploadPiece(account, request);
      return good(createFromForm(vendor, account, request));
    }
    const file = find(vendor, account, vendor === "gemini" ? `files/${id}` : (id ?? ""));
    if (method === "GET") return good(shown(file));
    if (method !== "DELETE") throw new Refusal(405, "Not allowed.");
    file.deleted = true;
    if (vendor === "gemini") return good({});
    if (vendor === "anthropic") return good({ id, type: "file_deleted" });
    return good({ id, object: "file", deleted: true });
  }

  return {
    answer(request) {
      const match = pathPattern.exec(request.path);
      if (match === null) return null;
      const { headers } = request;
      const isGoogles = headers["x-goog-api-key"] !== undefined;
      const vendor = isGoogles ? "gemini" : headers["anthropic-version"] === undefined ? "openai" : "anthropic";
      const account = headers["x-goog-api-key"] ?? headers["x-api-key"] ?? headers["authorization"] ?? "";
      try {
        if (account === "") throw new Refusal(401, "You didn't provide an API key.");
        return execute(vendor, account, request, match[1] ?? null);
      } catch (thrown) {
        const refusal = thrown instanceof Refusal ? thrown : new Refusal(400, "We could not parse the body.");
        return { status: refusal.status, body: openAiError(refusal, "") };
      }
    },
    list: () => files,
    text(account, id) {
      const file = files.find((one) => one.account === account && one.id === id && !one.deleted);
      return file === undefined ? null : (texts.get(file) ?? null);
    },
  };
}

function objectOf({ vendor, id, filename, media_type, bytes, purpose }: VendorFileRecord): object {
  if (vendor === "anthropic") {
    return {
      id,
      type: "file",
      filename,
      mime_type: media_type,
      size_bytes: bytes,
      created_at: created,
      downloadable: false,
    };
  }
  return { id, object: "file", bytes, created_at: 1_700_000_000, filename, purpose, status: "processed" };
}

function geminiObject({ id, filename, media_type, bytes, sha256 }: VendorFileRecord, host: string): object {
  return {
    ...{ name: id, displayName: filename, mimeType: media_type, sizeBytes: String(bytes), createTime: created },
    expirationTime: new Date(Date.now() + 48 * 3_600_000).toISOString(),
    ...{ sha256Hash: Buffer.from(sha256, "hex").toString("base64"), uri: `${host}/v1beta/${id}`, state: "ACTIVE" },
  };
}
