/** An upstream that reads requests without parsing them and always gives the same answers. */
export interface QuietUpstream {
  readonly url: string;
  stop(): Promise<void>;
}

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
const answers: readonly (readonly [end: RegExp, answer: object])[] = [
  [
    /\/chat\/completions$/,
    {
      id: "c_1",
      object: "chat.completion",
      created: 1,
      model: "m",
      choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
      usage,
    },
  ],
  [
    /\/messages$/,
    {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "m",
      content: [{ type: "text", text: "hi" }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  ],
  [
    /\/converse$/,
    {
      output: { message: { role: "assistant", content: [{ text: "hi" }] } },
      stopReason: "end_turn",
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    },
  ],
  [/\/messages\/count_tokens$/, { input_tokens: 1 }],
  [
    /\/interactions$/,
    {
      id: "v1_1",
      object: "interaction",
      status: "completed",
      model: "m",
      steps: [{ type: "model_output", content: [{ type: "text", text: "hi" }] }],
      usage: { total_input_tokens: 1, total_output_tokens: 1, total_tokens: 2 },
    },
  ],
  [
    /\/responses(\/compact)?$/,
    {
      id: "resp_1",
      object: "response",
      created_at: 1,
      status: "completed",
      model: "m",
      output: [
        {
          id: "msg_1",
          type: "message",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: "hi", annotations: [] }],
        },
      ],
      usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
    },
  ],
  [
    /:generateContent$/,
    {
      candidates: [{ content: { role: "model", parts: [{ text: "hi" }] }, finishReason: "STOP", index: 0 }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    },
  ],
  [/\/embeddings$/, { object: "list", model: "m", data: [{ object: "embedding", index: 0, embedding: [0] }], usage }],
  [/\/contents\/generations\/tasks$/, { id: "cgt-1" }],
  [/\/videos$/, { id: "video_1", status: "queued" }],
  [/:predictLongRunning$/, { name: "models/m/operations/o1" }],
  [/\/images\//, { created: 1, data: [{ b64_json: "AAAA" }] }],
];

export function startQuietUpstream(): QuietUpstream {
  const server = Bun.serve({
    idleTimeout: 0,
    hostname: "127.0.0.1",
    port: 0,
    maxRequestBodySize: 256 * 1024 * 1024,
    async fetch(request) {
      for await (const _piece of request.body ?? []) {
        // Discard the body.
      }
      const { pathname } = new URL(request.url);
      const answer = answers.find(([end]) => end.test(pathname))?.[1];
      return answer === undefined ? new Response("{}", { status: 404 }) : Response.json(answer);
    },
  });
  return { url: `http://127.0.0.1:${server.port}/v1`, stop: () => server.stop(true) };
}
