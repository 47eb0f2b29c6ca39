import { bucketKeys, bucketName } from "../../gateway/test/conformance/bucket-server.ts";
import { startChild } from "../acceptance/child.ts";
import { until } from "../until.ts";

/** An S3 bucket, in its own process, that several gateways share. */
export interface Bucket {
  readonly variables: Readonly<Record<string, string>>;
  objects(): Promise<number>;
  stop(): Promise<void>;
}

export async function startBucket(): Promise<Bucket> {
  const child = startChild("gateway/test/conformance/bucket-server.ts", [], {});
  const port = await until(() => {
    if (!child.running()) throw new Error(`the bucket server ended:\n${child.output()}`);
    return /^(\d+)\n/.exec(child.output())?.[1] ?? null;
  });
  const url = `http://127.0.0.1:${port}`;
  return {
    variables: {
      SLUICE_S3_BUCKET: bucketName,
      SLUICE_S3_ENDPOINT: url,
      SLUICE_S3_REGION: bucketKeys.region,
      SLUICE_S3_ACCESS_KEY_ID: bucketKeys.accessKeyId,
      SLUICE_S3_SECRET_ACCESS_KEY: bucketKeys.secretAccessKey,
    },
    async objects() {
      const answer = await fetch(`${url}/-/objects`);
      return ((await answer.json()) as readonly unknown[]).length;
    },
    async stop() {
      child.signal("SIGTERM");
      await child.exited;
    },
  };
}
