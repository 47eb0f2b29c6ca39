import { assetForm } from "@sluice/contract/words";
import { assetAnswer, FileJudge } from "#assets/index.ts";
import { abortSignalOf, bounds, Failure } from "#core/index.ts";
import type { Spooled } from "#ports/index.ts";
import { type FormEvent, FormReader, readMultipartType } from "#protocols/index.ts";
import { admitted, authenticated } from "../authenticated.ts";
import { assetUploadBody, jsonOrForm } from "../body.ts";
import type { Endpoint } from "../dependencies.ts";
import { json } from "../respond.ts";
import { requirePlain, spoolForm } from "../spooled-body.ts";

/** POST /v1/assets with a form: the file is spooled and checked as it arrives, and is Active in the answer. */
export const uploadAsset: Endpoint = async (dependencies, exchange) => {
  const principal = await authenticated(dependencies, exchange);
  const { request } = exchange;
  const { boundary } = readMultipartType(request.headers.get("content-type"), jsonOrForm);
  // Checked first: a refused upload counts against no limit.
  requirePlain(request.headers);
  return admitted(dependencies, principal, async () => {
    const form = new UploadForm();
    const options = { owner: principal, rules: assetUploadBody };
    const spooled = await spoolForm(dependencies, exchange, boundary, form, options);
    try {
      const signal = abortSignalOf(request.signal);
      const { assets } = dependencies;
      const asset = await assets.upload(principal.workspace.id, form.fields(), form.file(spooled), signal);
      return json(assetAnswer(asset, assets.urlOf(asset)), exchange.requestId);
    } finally {
      spooled.discard();
    }
  });
};

/** One file and its fields. */
class UploadForm {
  readonly #fields = new FormReader(assetForm, {});
  readonly #judge = new FileJudge();
  #filename = "";
  #span: { readonly start: number; end: number } | null = null;
  #inFile = false;

  take(event: FormEvent): void {
    this.#fields.take(event);
    if (event.kind === "part-start") this.#begin(event.head, event.start);
    if (event.kind === "part-data" && this.#inFile) this.#judge.take(event.bytes);
    if (event.kind === "part-end" && this.#inFile && this.#span !== null) this.#span.end = event.end;
    if (event.kind === "part-end") this.#inFile = false;
  }

  /** Throws Failure if the form has no file, or one that cannot be an asset. */
  end(): void {
    this.#fields.check();
    const { start, end } = this.#requireFile();
    if (start === end) throw invalid("The file is empty.");
    this.#judge.media();
  }

  fields() {
    const text = (name: string) => this.#fields.text(name);
    return {
      platform: text("platform"),
      groupId: text("group_id"),
      type: text("asset_type"),
      name: text("name") ?? nameOf(this.#filename),
    };
  }

  file(spooled: Spooled) {
    const { start, end } = this.#requireFile();
    return { media: this.#judge.media(), read: () => spooled.read(start, end) };
  }

  #begin({ name, filename }: { readonly name: string; readonly filename: string | null }, start: number): void {
    if (name === "url") throw invalid("A form carries a file. Send url in a JSON body.", "url");
    if (filename === null && name !== "file") return;
    if (name !== "file") throw invalid(`The file must be called file, not ${JSON.stringify(name)}.`);
    if (filename === null) throw invalid("file must be a file of the form, not a field.");
    if (this.#span !== null) throw invalid("A form can have only one file.");
    this.#filename = filename;
    this.#span = { start, end: start };
    this.#inFile = true;
  }

  #requireFile(): { readonly start: number; readonly end: number } {
    if (this.#span !== null) return this.#span;
    throw new Failure("missing_required_parameter", "file is missing.", { param: "file" });
  }
}

/** The file's name without folders and extension, shortened to the bound of names. */
function nameOf(filename: string): string {
  const own = filename.slice(Math.max(filename.lastIndexOf("/"), filename.lastIndexOf("\\")) + 1);
  const bare = own.replace(/\.[A-Za-z0-9]{1,8}$/, "").replace(/\p{Cc}/gu, " ");
  return [...bare.slice(0, bounds.assetNameCharactersMax * 2)].slice(0, bounds.assetNameCharactersMax).join("").trim();
}

function invalid(message: string, param = "file"): Failure {
  return new Failure("invalid_request", message, { param });
}
