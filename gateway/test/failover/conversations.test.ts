import { describe, expect, test } from "bun:test";
import { asEquals, type Behavior, chatOf, startAccounts } from "./accounts.ts";

const answer = "Done. ".repeat(20);
const instructions = "You work on a large code base and follow its rules. ".repeat(120);
const task = (session: number): string => `Session ${session}: find out why the build of the branch fails.`;

/** A conversation as the clients of a dialect send it, turn by turn, without an identifier. */
interface Client {
  readonly path: string;
  readonly kind: string;
  readonly root: string;
  body(session: number, turn: number): object;
  answer(): object;
}

const turns = (turn: number): readonly number[] => Array.from({ length: turn }, (_, index) => index);

const messages: Client = {
  path: "/v1/messages",
  kind: "anthropic",
  root: "",
  body(session, turn) {
    const mark = { cache_control: { type: "ephemeral" } };
    const text = (words: string, marked: boolean) => [{ type: "text", text: words, ...(marked ? mark : {}) }];
    return {
      ...{ model: "m", max_tokens: 9, system: text(instructions, true) },
      // Agents move the cache mark to the last message.
      messages: [
        { role: "user", content: turn === 0 ? text(task(session), true) : task(session) },
        ...turns(turn).flatMap((each) => [
          { role: "assistant", content: text(answer, false) },
          { role: "user", content: text(`And then? ${each}`, each === turn - 1) },
        ]),
      ],
    };
  },
  answer: () => ({
    ...{ id: "msg_1", type: "message", role: "assistant", model: "m", content: [{ type: "text", text: "ok" }] },
    ...{ stop_reason: "end_turn", stop_sequence: null, usage: { input_tokens: 5, output_tokens: 1 } },
  }),
};

const chat: Client = {
  path: "/v1/chat/completions",
  kind: "openai-compatible",
  root: "/v1",
  body: (session, turn) =>
    chatOf("m", {
      messages: [
        { role: "system", content: instructions },
        { role: "user", content: task(session) },
        ...turns(turn).flatMap((each) => [
          { role: "assistant", content: answer },
          { role: "user", content: `And then? ${each}` },
        ]),
      ],
    }),
  answer: () => ({
    ...{ id: "c", object: "chat.completion", created: 1, model: "m" },
    choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "ok" } }],
    usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
  }),
};

const responses: Client = {
  path: "/v1/responses",
  kind: "openai",
  root: "/v1",
  body: (session, turn) => ({
    ...{ model: "m", instructions, store: false },
    input:
      turn === 0
        ? task(session)
        : [
            { role: "user", content: [{ type: "input_text", text: task(session) }] },
            ...turns(turn).map((each) => ({ role: "user", content: `And then? ${each}` })),
          ],
  }),
  answer: () => ({
    ...{ id: "resp_1", object: "response", created_at: 1, status: "completed", model: "m" },
    output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "ok", annotations: [] }] }],
    usage: { input_tokens: 5, output_tokens: 1, total_tokens: 6 },
  }),
};

const gemini: Client = {
  path: "/v1beta/models/m:generateContent",
  kind: "gemini",
  root: "/v1beta",
  body: (session, turn) => ({
    systemInstruction: { parts: [{ text: instructions }] },
    contents: [
      { role: "user", parts: [{ text: task(session) }] },
      ...turns(turn).flatMap((each) => [
        { role: "model", parts: [{ text: answer }] },
        { role: "user", parts: [{ text: `And then? ${each}` }] },
      ]),
    ],
  }),
  answer: () => ({
    candidates: [{ content: { parts: [{ text: "ok" }], role: "model" }, finishReason: "STOP" }],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1, totalTokenCount: 6 },
  }),
};

const interactions: Client = {
  path: "/v1beta/interactions",
  kind: "gemini",
  root: "/v1beta",
  body: (session, turn) => ({
    ...{ model: "m", system_instruction: instructions, store: false },
    input:
      turn === 0
        ? task(session)
        : [
            { type: "user_input", content: [{ type: "text", text: task(session) }] },
            ...turns(turn).flatMap((each) => [
              { type: "model_output", content: [{ type: "text", text: answer }] },
              { type: "user_input", content: [{ type: "text", text: `And then? ${each}` }] },
            ]),
          ],
  }),
  answer: () => ({
    ...{ id: "v1_1", object: "interaction", status: "completed", model: "m" },
    steps: [{ type: "model_output", content: [{ type: "text", text: "ok" }] }],
    usage: { total_input_tokens: 5, total_output_tokens: 1, total_tokens: 6 },
  }),
};

describe.each([messages, chat, responses, gemini, interactions])(
  "$path, three equal accounts, no conversation identifier",
  (client) => {
    const behavior: Behavior = () => Response.json(client.answer());
    const start = () =>
      startAccounts({
        behaviors: [behavior, behavior, behavior],
        modelsOf: asEquals,
        kind: client.kind,
        root: client.root,
      });
    const headers = { "anthropic-version": "2023-06-01" };

    test("keeps twelve turns of a conversation at one account and distributes conversations", async () => {
      await using running = await start();
      const { gateway, accounts } = running;
      const used = new Set<number>();
      for (let session = 0; session < 12; session++) {
        const before = accounts.map(({ bodies }) => bodies.length);
        for (let turn = 0; turn < 12; turn++) {
          const response = await gateway.post(client.path, client.body(session, turn), { headers });
          expect([response.status, await response.text()]).toMatchObject([200, expect.any(String)]);
        }
        const counts = accounts.map(({ bodies }, index) => bodies.length - (before[index] ?? 0));
        expect([session, counts.toSorted()]).toEqual([session, [0, 0, 12]]);
        used.add(counts.indexOf(12));
      }
      // By chance, twelve conversations use only two of the three accounts once in forty runs, and only one account
      // once in 177,147.
      expect(used.size).toBeGreaterThan(1);
    });
  },
);

test("distributes short prompts, which no vendor caches, to all accounts", async () => {
  const behavior: Behavior = () => Response.json(chat.answer());
  await using running = await startAccounts({ behaviors: [behavior, behavior, behavior], modelsOf: asEquals });
  for (let call = 0; call < 60; call++) await (await running.gateway.chat(chatOf())).text();
  for (const { bodies } of running.accounts) expect(bodies.length).toBeGreaterThan(0);
});
