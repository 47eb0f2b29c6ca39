import { systemClock } from "../../gateway/src/system/index.ts";
import { WebhookReceiver } from "../../gateway/test/simulation/webhook-receiver.ts";
import { publicHost } from "../acceptance/public-host.ts";
import type { DatabaseClock } from "./database-clock.ts";
import { mismatch } from "./proof.ts";

/** Receives webhooks and checks their signatures. It fails the first delivery of every third message. */
export class CallbackHost {
  readonly #receiver: WebhookReceiver;
  readonly #server: Bun.Server<undefined>;

  constructor(secret: string, clock: DatabaseClock) {
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

  /** The number of tasks that messages have arrived for. */
  get taskCount(): number {
    return this.#byTask().size;
  }

  get messages(): number {
    return this.#receiver.messages.length;
  }

  /** Checks that each task was reported at least once, always with the same message id and the status that it ended with. */
  problems(ended: readonly { readonly id: string; readonly status: string }[]): readonly (string | null)[] {
    const byTask = this.#byTask();
    const ids = [...byTask.values()].map((messages) => messages[0]?.id);
    const endedIds = new Set(ended.map(({ id }) => id));
    return [
      mismatch("messages with a wrong signature", this.#receiver.messages.filter(({ genuine }) => !genuine).length, 0),
      mismatch("message ids", new Set(ids).size, byTask.size),
      ...[...byTask.keys()].filter((id) => !endedIds.has(id)).map((id) => `a message names ${id}, which is no task`),
      ...ended.flatMap(({ id, status }) => {
        const messages = byTask.get(id) ?? [];
        if (messages.length === 0) return [`no message arrived for ${id}`];
        return [
          mismatch(`message ids of ${id}`, new Set(messages.map((message) => message.id)).size, 1),
          mismatch(`message bodies of ${id}`, new Set(messages.map(({ body }) => body)).size, 1),
          mismatch(
            `event type of ${id}`,
            (JSON.parse(messages[0]?.body ?? "") as TaskEvent).type,
            `video.task.${status}`,
          ),
        ];
      }),
    ];
  }

  stop(): void {
    this.#server.stop(true);
  }

  #byTask() {
    return Map.groupBy(this.#receiver.messages, ({ body }) => (JSON.parse(body) as TaskEvent).data.id);
  }
}

interface TaskEvent {
  readonly type: string;
  readonly data: { readonly id: string };
}
