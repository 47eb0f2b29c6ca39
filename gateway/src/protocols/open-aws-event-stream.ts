import type { AwsEventStream } from "./aws-event-stream.ts";

/** Few upstreams frame their streams so: the format's library is loaded with the first of them. */
export async function openAwsEventStream(): Promise<AwsEventStream> {
  const late = await import("./aws-event-stream.ts");
  return new late.AwsEventStream();
}
