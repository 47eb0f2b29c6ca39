import { assetForm } from "@sluice/contract/words";
import { assetAnswer, FileJudge } from "#assets/index.ts";
import { abortSignalOf, bounds, Failure } from "#core/index.ts";
import { type FormEvent, FormReader, readMultipartType } from "#protocols/index.ts";
import { admitted, withKey } from "../authenticated.ts";
import { assetUploadBody, jsonOrForm } from "../body.ts";
import { requirePlain, spoolForm } from "../spooled-body.ts";

/** POST /v1/assets with a form: the file is spooled and checked as it arrives, and is Active in the answer. */
export const uploadAsset = withKey((exchange, principal) => {
  const { request, dependencies } = exchange;
  const { boundary } = readMultipartType(request.headers.get("content-type"), jsonOrForm);
  // Checked first: a refused upload counts against no limit.
  requirePlain(request.headers);
  return admitted(exchange, principal, async () => {
    const { spooled, read } = await spoolForm(exchange, boundary, principal, new UploadForm(), assetUploadBody);
    const { fields, media, start, end } = read;
    try {
      const { assets } = dependencies;
      const file = { media, read: () => spooled.read(start, end) };
      const asset = await assets.upload(principal.workspace.id, fields, file, abortSignalOf(request.signal));
      return assetAnswer(asset, assets.urlOf(asset));
    } finally {
      spooled.discard();
    }
  });
});

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
  end() {
    this.#fields.check();
    if (this.#span === null) throw new Failure("missing_required_parameter", "file is missing.", { param: "file" });
    const { start, end } = this.#span;
    if (start === end) throw invalid("The file is empty.");
    const text = (name: string) => this.#fields.text(name);
    const fields = {
      platform: text("platform"),
      groupId: text("group_id"),
      type: text("asset_type"),
      name: text("name") ?? nameOf(this.#filename),
    };
    return { fields, media: this.#judge.media(), start, end };
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
