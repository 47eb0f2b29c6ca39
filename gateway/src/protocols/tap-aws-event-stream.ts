import type { StreamTap } from "./dialect.ts";

/**
 * Has `tap` listen to a stream in AWS's framing, turned into server-sent events. Few upstreams frame their streams so: the
 * format's library is loaded with the first of them.
 */
export async function tapAwsEventStream(tap: StreamTap): Promise<StreamTap> {
  const { AwsEventStream } = await import("./aws-event-stream.ts");
  const framing = new AwsEventStream();
  const push = tap.push.bind(tap);
  tap.push = (chunk) => push(framing.push(chunk));
  return tap;
}
