import { createHmac, timingSafeEqual } from "node:crypto";
import type { Clock, OutboundRequest } from "#ports/index.ts";
import { sentText } from "../outbound.ts";

/** One message as it was received. */
export interface Message {
  readonly id: string;
  /** When it was received, in milliseconds of the clock. */
  readonly at: number;
  readonly timestamp: string;
  readonly signature: string;
  readonly body: string;
  /** Whether it passes the check of Standard Webhooks. */
  readonly genuine: boolean;
}

const toleranceSeconds = 300;

/**
 * A caller's host that follows Standard Webhooks: it checks the time and the signature with its secret before it
 * accepts a message. It shares no code with the sender.
 */
export class WebhookReceiver {
  readonly messages: Message[] = [];
  /** The answer to further messages. */
  answer: () => Response | Promise<Response> = () => new Response(null, { status: 204 });
  readonly #key: Buffer;
  readonly #clock: Pick<Clock, "now">;

  constructor(secret: string, clock: Pick<Clock, "now">) {
    this.#key = Buffer.from(secret.replace("whsec_", ""), "base64");
    this.#clock = clock;
  }

  readonly page = (request: Pick<OutboundRequest, "headers" | "body">): Response | Promise<Response> => {
    const { headers } = request;
    const body = sentText(request.body);
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
    const ageSeconds = Math.abs(this.#clock.now() / 1_000 - Number(timestamp));
    if (!/^\d+$/.test(timestamp) || ageSeconds > toleranceSeconds) return false;
    const expected = createHmac("sha256", this.#key).update(`${id}.${timestamp}.${body}`).digest();
    // There may be several signatures, separated by spaces, while a secret is rotated.
    return signature.split(" ").some((one) => {
      const [version, text = ""] = one.split(",");
      const received = Buffer.from(text, "base64");
      return version === "v1" && received.length === expected.length && timingSafeEqual(received, expected);
    });
  }
}
