import { anthropicWire, geminiWire, openAiWire, type VendorBatch, type VendorWire } from "./vendor-wires.ts";

/** A vendor with batches, in OpenAI's, Anthropic's and Gemini's API. A batch runs until a test ends it. */
export class BatchVendor {
  readonly batches: VendorBatch[] = [];
  /** Calls that are not part of a batch. */
  calls = 0;
  /** Fails the creations of batches with this status, after it has created them if `created`. */
  failing: { readonly status: number; readonly created: boolean } | null = null;
  /** The end of the row at this position. */
  endOf: (position: number) => "answered" | "failed" | "left" = () => "answered";
  /** Changes a line of a result. */
  changeLine: (line: string, position: number) => string = (line) => line;
  /** Ended batches without results. */
  readonly withoutResults = new Set<string>();
  /** Unix milliseconds. */
  now: () => number = Date.now;
  /** Awaited with each answer, after it has been made. */
  beforeAnswer: (method: string, path: string) => Promise<void> | void = () => undefined;
  readonly #files = new Map<string, string>();
  readonly #server = Bun.serve({ idleTimeout: 0, port: 0, fetch: (request) => this.#serve(request) });

  get origin(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  get url(): string {
    return `${this.origin}/v1`;
  }

  stop(): void {
    void this.#server.stop(true);
  }

  end(status: VendorBatch["status"] = "completed"): void {
    for (const batch of this.batches) if (batch.status === "in_progress") batch.status = status;
  }

  async #serve(request: Request): Promise<Response> {
    const response = await this.#answer(request);
    await this.beforeAnswer(request.method, new URL(request.url).pathname);
    return response;
  }

  async #answer(request: Request): Promise<Response> {
    const path = new URL(request.url).pathname;
    const isPost = request.method === "POST";
    if (path.includes("/v1beta/")) return await this.#answerGemini(request, path);
    if (path === "/v1/files" && isPost) return await this.#upload(request);
    const [, file] = /^\/v1\/files\/([^/]+)\/content$/.exec(path) ?? [];
    if (file !== undefined)
      return new Response(this.#files.get(file) ?? "", { status: this.#files.has(file) ? 200 : 404 });
    if (path === "/v1/batches") return isPost ? await this.#createOpenAi(request) : this.#list(openAiWire);
    if (path === "/v1/messages/batches")
      return isPost ? await this.#createAnthropic(request) : this.#list(anthropicWire);
    const [, kind, id, rest] = /^\/v1\/(batches|messages\/batches)\/([^/]+)(?:\/(\w+))?$/.exec(path) ?? [];
    const batch = this.batches.find((one) => one.id === id);
    if (batch === undefined) {
      this.calls++;
      return Response.json({ error: { message: "no such path" } }, { status: 404 });
    }
    if (rest === "cancel" && batch.status === "in_progress") batch.status = "cancelled";
    const isOpenAi = kind === "batches";
    if (rest === "results" && this.withoutResults.has(batch.id)) return new Response("", { status: 404 });
    if (rest === "results") return new Response(this.#lines(batch, anthropicWire));
    if (isOpenAi && batch.status !== "in_progress") this.#files.set(`out-${batch.id}`, this.#lines(batch, openAiWire));
    return Response.json((isOpenAi ? openAiWire : anthropicWire).batch(batch));
  }

  async #answerGemini(request: Request, path: string): Promise<Response> {
    if (path === "/upload/v1beta/files") {
      const id = `files/rows${this.#files.size}`;
      const url = `${this.origin}/upload/v1beta/files/${id.slice("files/".length)}`;
      return new Response("", { headers: { "x-goog-upload-url": url, "x-goog-upload-status": "active" } });
    }
    const [, uploaded] = /^\/upload\/v1beta\/(files\/\w+)$/.exec(path) ?? [];
    if (uploaded !== undefined) {
      this.#files.set(uploaded, await request.text());
      return Response.json({ file: { name: uploaded, uri: `${this.origin}/v1beta/${uploaded}`, state: "ACTIVE" } });
    }
    const [, downloaded] = /^\/download\/v1beta\/(files\/[\w-]+):download$/.exec(path) ?? [];
    if (downloaded !== undefined) return new Response(this.#files.get(downloaded));
    const [, model] = /^\/v1beta\/models\/([\w-]+):(?:batchGenerateContent|asyncBatchEmbedContent)$/.exec(path) ?? [];
    if (model !== undefined) return await this.#createGemini(request, model);
    if (path === "/v1beta/batches") return this.#list(geminiWire);
    const [, id, cancel] = /^\/v1beta\/batches\/(\w+)(:cancel)?$/.exec(path) ?? [];
    const batch = this.batches.find((one) => one.id === id);
    if (batch === undefined) {
      this.calls++;
      return Response.json({ error: { code: 404, message: "no such path", status: "NOT_FOUND" } }, { status: 404 });
    }
    if (cancel !== undefined && batch.status === "in_progress") batch.status = "cancelled";
    if (batch.status === "completed") this.#files.set(`files/out-${batch.id}`, this.#lines(batch, geminiWire));
    const ran = batch.rows.filter((_, position) => this.endOf(position) === "answered").length;
    return Response.json(geminiWire.batch(batch, batch.status === "in_progress" ? 0 : ran));
  }

  async #createGemini(request: Request, model: string): Promise<Response> {
    const { batch } = (await request.json()) as { batch: { displayName: string; inputConfig: { fileName: string } } };
    const lines = (this.#files.get(batch.inputConfig.fileName) ?? "").trim().split("\n");
    const rows = lines.map((line) => {
      const { key, request: body } = JSON.parse(line) as { key: string; request: Record<string, unknown> };
      return { custom_id: key, body: { ...body, model } };
    });
    return this.#create(rows, batch.displayName, geminiWire);
  }

  async #upload(request: Request): Promise<Response> {
    const form = await request.formData();
    const id = `file-vendor-${this.#files.size}`;
    this.#files.set(id, await (form.get("file") as File).text());
    return Response.json({ id, object: "file", purpose: form.get("purpose") });
  }

  async #createOpenAi(request: Request): Promise<Response> {
    const { input_file_id, metadata } = (await request.json()) as {
      input_file_id: string;
      metadata: { sluice_batch: string };
    };
    const text = this.#files.get(input_file_id) ?? "";
    const rows = text
      .split("\n")
      .map((line) => JSON.parse(line) as { custom_id: string; body: Record<string, unknown> });
    return this.#create(rows, metadata.sluice_batch, openAiWire);
  }

  async #createAnthropic(request: Request): Promise<Response> {
    const { requests } = (await request.json()) as {
      requests: readonly { custom_id: string; params: Record<string, unknown> }[];
    };
    const rows = requests.map(({ custom_id, params }) => ({ custom_id, body: params }));
    return this.#create(rows, null, anthropicWire);
  }

  #create(rows: VendorBatch["rows"], ourId: string | null, wire: VendorWire): Response {
    const { failing } = this;
    this.failing = null;
    const batch: VendorBatch = {
      id: `vendor_${this.batches.length}`,
      ourId,
      rows,
      createdAt: this.now(),
      status: "in_progress",
    };
    if (failing === null || failing.created) this.batches.push(batch);
    if (failing !== null)
      return Response.json({ error: { message: "not now", type: "api_error" } }, { status: failing.status });
    return Response.json(wire.batch(batch));
  }

  #list(wire: VendorWire): Response {
    const items = this.batches.slice(-100).map((batch) => wire.batch(batch));
    return Response.json({ object: "list", [wire.listMember]: items, has_more: this.batches.length > items.length });
  }

  /** Unordered, as vendors write them. */
  #lines({ rows, status }: VendorBatch, { line }: VendorWire): string {
    const leftEnd = status === "completed" ? "expired" : status;
    const lines = rows.toReversed().map(({ custom_id, body }) => {
      const position = Number(custom_id.split("-")[1]);
      const end = this.endOf(position);
      const text = JSON.stringify(line(custom_id, body["model"], end === "left" ? leftEnd : end));
      return this.changeLine(text, position);
    });
    return `${lines.join("\n")}\n`;
  }
}
