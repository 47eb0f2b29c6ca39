import { bounds, Failure } from "#core/index.ts";
import type { Clock, ObjectStore, OutboundStream, Transport } from "#ports/index.ts";
import { type Bucket, bucketSend } from "./bucket-requests.ts";

export interface BucketObjectsOptions extends Bucket {
  /** In front of every name; may be empty. */
  readonly prefix: string;
  readonly transport: Transport;
  readonly clock: Clock;
}

/** Objects in an S3-compatible bucket under names of their own. One is whole or not there: the bucket checks it against its digest. */
export function createBucketObjects(options: BucketObjectsOptions): ObjectStore {
  const send = bucketSend(options, options.transport, options.clock);
  return {
    async put(name, bytes, sha256, signal) {
      const answer = await send(
        { method: "PUT", key: options.prefix + name, body: { stream: streamOf(bytes), sha256 } },
        signal,
      );
      answer.body.cancel();
      if (answer.status >= 300) {
        throw new Failure("internal_error", "The place where the ledger is copied to does not answer as it should.", {
          cause: new Error(`the bucket answered ${answer.status}`),
        });
      }
    },
  };
}

function streamOf(bytes: Uint8Array): OutboundStream {
  const open = (): ReadableStream<Uint8Array> => {
    let at = 0;
    return new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          if (at < bytes.length) controller.enqueue(bytes.subarray(at, at + bounds.sendPieceBytes));
          at += bounds.sendPieceBytes;
          if (at >= bytes.length) controller.close();
        },
      },
      { highWaterMark: 0 },
    );
  };
  return { size: bytes.length, open };
}
