import { createHmac, timingSafeEqual } from "node:crypto";
import type { Clock, OutboundRequest } from "#ports/index.ts";

/** One message as it came. */
export interface Message {
  readonly id: string;
  /** When it came, in milliseconds of the clock. */
  readonly at: number;
  readonly timestamp: string;
  readonly signature: string;
  readonly body: string;
  /** What the rule of Standard Webhooks says of it. */
  readonly genuine: boolean;
}

const toleranceSeconds = 300;

/**
 * A caller's host that does what the page of Standard Webhooks asks of whoever takes messages: it checks the time and the
 * signature with its secret before it believes anything. It shares nothing with what signs.
 */
export class WebhookReceiver {
  readonly messages: Message[] = [];
  /** What it answers from now on. */
  answer: () => Response | Promise<Response> = () => new Response(null, { status: 204 });
  readonly #key: Buffer;
  readonly #clock: Pick<Clock, "now">;

  constructor(secret: string, clock: Pick<Clock, "now">) {
    this.#key = Buffer.from(secret.replace("whsec_", ""), "base64");
    this.#clock = clock;
  }

  readonly page = (request: Pick<OutboundRequest, "headers" | "body">): Response | Promise<Response> => {
    const { headers } = request;
    const body = new TextDecoder().decode(request.body instanceof Uint8Array ? request.body : new Uint8Array());
    const [id = "", timestamp = "", signature = ""] = ["id", "timestamp", "signature"].map(
      (name) => headers[`webhook-${name}`] ?? "",
    );
    const at = this.#clock.now();
    this.messages.push({
      id,
      at,
      timestamp,
      signature,
      body,
      genuine: this.#verify({ id, timestamp, signature, body }),
    });
    return this.answer();
  };

  #verify({ id, timestamp, signature, body }: Pick<Message, "id" | "timestamp" | "signature" | "body">): boolean {
    const apart = Math.abs(this.#clock.now() / 1_000 - Number(timestamp));
    if (!/^\d+$/.test(timestamp) || apart > toleranceSeconds) return false;
    const right = createHmac("sha256", this.#key).update(`${id}.${timestamp}.${body}`).digest();
    // Several signatures may stand there, with blanks between them, while a secret is being changed.
    return signature.split(" ").some((one) => {
      const [version, text = ""] = one.split(",");
      const given = Buffer.from(text, "base64");
      return version === "v1" && given.length === right.length && timingSafeEqual(given, right);
    });
  }
}
