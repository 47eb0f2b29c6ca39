import type { StreamTap } from "../dialect.ts";
import type { AwsEventWriter } from "./aws-event-stream.ts";

// The library of Amazon's event stream is loaded on first use.

/** Makes `tap` read a stream in AWS framing. */
export async function tapAwsEventStream(tap: StreamTap): Promise<StreamTap> {
  const { AwsEventStream } = await import("./aws-event-stream.ts");
  const framing = new AwsEventStream();
  const push = tap.push.bind(tap);
  tap.push = (chunk) => push(framing.push(chunk));
  return tap;
}

export async function awsEventWriter(): Promise<AwsEventWriter> {
  const { AwsEventWriter } = await import("./aws-event-stream.ts");
  return new AwsEventWriter();
}
