/** An upstream of chat completions that counts the calls of each prompt, and holds answers back. */
export class RowUpstream {
  /** The number of calls by prompt. */
  readonly calls = new Map<string, number>();
  /** The most calls at the same time. */
  mostAtOnce = 0;
  /** The status of the next answer to a prompt; 200 if absent. */
  statusOf: (prompt: string) => number = () => 200;
  /** Awaited before each answer. */
  gate: Promise<void> = Promise.resolve();
  #atOnce = 0;
  readonly #server = Bun.serve({ idleTimeout: 0, port: 0, fetch: (request) => this.#answer(request) });

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}/v1`;
  }

  get total(): number {
    return [...this.calls.values()].reduce((sum, count) => sum + count, 0);
  }

  stop(): void {
    void this.#server.stop(true);
  }

  async #answer(request: Request): Promise<Response> {
    const { messages } = (await request.json()) as { messages: readonly { content: string }[] };
    const prompt = messages[0]?.content ?? "";
    this.calls.set(prompt, (this.calls.get(prompt) ?? 0) + 1);
    this.#atOnce++;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#atOnce);
    try {
      await this.gate;
      const status = this.statusOf(prompt);
      if (status !== 200)
        return Response.json({ error: { message: `no ${prompt}`, type: "x", code: null } }, { status });
      const message = { role: "assistant", content: `answer to ${prompt}` };
      return Response.json({
        ...{ id: "c1", object: "chat.completion", created: 1, model: "m" },
        choices: [{ index: 0, message, finish_reason: "stop" }],
        usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
      });
    } finally {
      this.#atOnce--;
    }
  }
}
