interface VendorBatch {
  readonly id: string;
  readonly ourId: string | null;
  readonly rows: readonly { readonly custom_id: string; readonly body: Record<string, unknown> }[];
  readonly createdAt: number;
  status: "in_progress" | "completed" | "cancelled" | "expired";
}

/** A vendor with batches, in OpenAI's and Anthropic's API. A batch runs until a test ends it. */
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
  readonly #files = new Map<string, string>();
  readonly #server = Bun.serve({ idleTimeout: 0, port: 0, fetch: (request) => this.#answer(request) });

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}/v1`;
  }

  stop(): void {
    void this.#server.stop(true);
  }

  end(status: VendorBatch["status"] = "completed"): void {
    for (const batch of this.batches) if (batch.status === "in_progress") batch.status = status;
  }

  async #answer(request: Request): Promise<Response> {
    const path = new URL(request.url).pathname;
    const isPost = request.method === "POST";
    if (path === "/v1/files" && isPost) return await this.#upload(request);
    const [, file] = /^\/v1\/files\/([^/]+)\/content$/.exec(path) ?? [];
    if (file !== undefined)
      return new Response(this.#files.get(file) ?? "", { status: this.#files.has(file) ? 200 : 404 });
    if (path === "/v1/batches") return isPost ? await this.#createOpenAi(request) : this.#list(openAiBatch);
    if (path === "/v1/messages/batches")
      return isPost ? await this.#createAnthropic(request) : this.#list(anthropicBatch);
    const [, kind, id, rest] = /^\/v1\/(batches|messages\/batches)\/([^/]+)(?:\/(\w+))?$/.exec(path) ?? [];
    const batch = this.batches.find((one) => one.id === id);
    if (batch === undefined) {
      this.calls++;
      return Response.json({ error: { message: "no such path" } }, { status: 404 });
    }
    if (rest === "cancel" && batch.status === "in_progress") batch.status = "cancelled";
    const isOpenAi = kind === "batches";
    if (rest === "results") return new Response(this.#lines(batch, anthropicLine));
    if (isOpenAi && batch.status !== "in_progress") this.#files.set(`out-${batch.id}`, this.#lines(batch, openAiLine));
    return Response.json(isOpenAi ? openAiBatch(batch) : anthropicBatch(batch));
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
    return this.#create(rows, metadata.sluice_batch, openAiBatch);
  }

  async #createAnthropic(request: Request): Promise<Response> {
    const { requests } = (await request.json()) as {
      requests: readonly { custom_id: string; params: Record<string, unknown> }[];
    };
    const rows = requests.map(({ custom_id, params }) => ({ custom_id, body: params }));
    return this.#create(rows, null, anthropicBatch);
  }

  #create(rows: VendorBatch["rows"], ourId: string | null, shape: (batch: VendorBatch) => object): Response {
    const { failing } = this;
    this.failing = null;
    const batch: VendorBatch = {
      id: `vendor_${this.batches.length}`,
      ourId,
      rows,
      createdAt: Date.now(),
      status: "in_progress",
    };
    if (failing === null || failing.created) this.batches.push(batch);
    if (failing !== null)
      return Response.json({ error: { message: "not now", type: "api_error" } }, { status: failing.status });
    return Response.json(shape(batch));
  }

  #list(shape: (batch: VendorBatch) => object): Response {
    return Response.json({ object: "list", data: this.batches.map(shape), has_more: false });
  }

  /** Unordered, as vendors write them. */
  #lines({ rows, status }: VendorBatch, line: (customId: string, model: unknown, end: string) => object): string {
    const lines = rows.toReversed().map(({ custom_id, body }) => {
      const position = Number(custom_id.split("-")[1]);
      const end = this.endOf(position);
      const text = JSON.stringify(line(custom_id, body["model"], end === "left" ? status : end));
      return this.changeLine(text, position);
    });
    return `${lines.join("\n")}\n`;
  }
}

function openAiBatch({ id, ourId, rows, createdAt, status }: VendorBatch): object {
  const output = status === "in_progress" ? null : `out-${id}`;
  return {
    ...{ id, object: "batch", status, created_at: Math.floor(createdAt / 1_000), metadata: { sluice_batch: ourId } },
    ...{ output_file_id: output, error_file_id: null, request_counts: { total: rows.length, completed: 0, failed: 0 } },
  };
}

function anthropicBatch({ id, rows, createdAt, status }: VendorBatch): object {
  return {
    ...{ id, type: "message_batch", processing_status: status === "in_progress" ? "in_progress" : "ended" },
    ...{ created_at: new Date(createdAt).toISOString(), results_url: "https://elsewhere.example/results" },
    request_counts: { processing: rows.length, succeeded: 0, errored: 0, canceled: 0, expired: 0 },
  };
}

function openAiLine(custom_id: string, model: unknown, end: string): object {
  if (end === "answered") {
    const body = {
      ...{ id: "c1", object: "chat.completion", created: 1, model, service_tier: "default" },
      choices: [{ index: 0, message: { role: "assistant", content: custom_id }, finish_reason: "stop" }],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    };
    return { id: "r", custom_id, response: { status_code: 200, request_id: "x", body }, error: null };
  }
  if (end === "failed") {
    return {
      id: "r",
      custom_id,
      response: { status_code: 400, request_id: "x", body: { error: { message: "bad row" } } },
      error: null,
    };
  }
  return { id: "r", custom_id, response: null, error: { code: `batch_${end}`, message: end } };
}

function anthropicLine(custom_id: string, model: unknown, end: string): object {
  if (end === "answered") {
    const message = {
      ...{
        id: "m1",
        type: "message",
        role: "assistant",
        model,
        stop_reason: "end_turn",
        content: [{ type: "text", text: custom_id }],
      },
      usage: { input_tokens: 10, output_tokens: 5, service_tier: "batch" },
    };
    return { custom_id, result: { type: "succeeded", message } };
  }
  if (end === "failed") {
    return {
      custom_id,
      result: {
        type: "errored",
        error: { type: "error", error: { type: "invalid_request_error", message: "bad row" } },
      },
    };
  }
  return { custom_id, result: { type: end === "cancelled" ? "canceled" : "expired" } };
}
