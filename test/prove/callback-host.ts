import { systemClock } from "../../gateway/src/system/index.ts";
import { WebhookReceiver } from "../../gateway/test/simulation/webhook-receiver.ts";
import { publicHost } from "../acceptance/public-host.ts";
import type { LeapingClock } from "./leaping-clock.ts";
import { unlike } from "./proof.ts";

/** A caller's host that is told of ends, and believes only what is genuine. Every third message it answers with an error first. */
export class CallbackHost {
  readonly #receiver: WebhookReceiver;
  readonly #server: Bun.Server<undefined>;

  constructor(secret: string, clock: LeapingClock) {
    this.#receiver = new WebhookReceiver(secret, { now: () => systemClock.now() + clock.aheadMs });
    this.#server = Bun.serve({
      idleTimeout: 0,
      hostname: "127.0.0.1",
      port: 0,
      fetch: async (request) =>
        this.#receiver.page({ headers: Object.fromEntries(request.headers), body: await request.bytes() }),
    });
    this.#receiver.answer = () => {
      const { messages } = this.#receiver;
      const tries = messages.filter(({ id }) => id === messages.at(-1)?.id).length;
      const ids = new Set(messages.map(({ id }) => id)).size;
      return new Response(null, { status: tries === 1 && ids % 3 === 0 ? 503 : 204 });
    };
  }

  get url(): string {
    return `http://${publicHost}:${this.#server.port}/ended`;
  }

  /** Tasks that it was told of. */
  get told(): number {
    return this.#byTask().size;
  }

  get messages(): number {
    return this.#receiver.messages.length;
  }

  /** Each of these has been told of at least once, by one id that is its own, and as it ended. */
  faults(ended: readonly { readonly id: string; readonly status: string }[]): readonly (string | null)[] {
    const byTask = this.#byTask();
    const ids = [...byTask.values()].map((messages) => messages[0]?.id);
    const known = new Set(ended.map(({ id }) => id));
    return [
      unlike("messages that are not genuine", this.#receiver.messages.filter(({ genuine }) => !genuine).length, 0),
      unlike("ids of messages", new Set(ids).size, byTask.size),
      ...[...byTask.keys()].filter((id) => !known.has(id)).map((id) => `${id} was told of and is nobody's`),
      ...ended.flatMap(({ id, status }) => {
        const messages = byTask.get(id) ?? [];
        if (messages.length === 0) return [`nobody was told of ${id}`];
        return [
          unlike(`ids of the messages about ${id}`, new Set(messages.map((message) => message.id)).size, 1),
          unlike(`bodies of the messages about ${id}`, new Set(messages.map(({ body }) => body)).size, 1),
          unlike(`how ${id} ended`, (JSON.parse(messages[0]?.body ?? "") as Told).type, `video.task.${status}`),
        ];
      }),
    ];
  }

  stop(): void {
    this.#server.stop(true);
  }

  #byTask() {
    return Map.groupBy(this.#receiver.messages, ({ body }) => (JSON.parse(body) as Told).data.id);
  }
}

interface Told {
  readonly type: string;
  readonly data: { readonly id: string };
}
