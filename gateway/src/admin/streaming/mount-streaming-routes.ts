import { asKeyPath, assetContentPath, backupPath, tailPath, taskContentPath } from "@sluice/contract/words";
import type { Hono } from "hono";
import type { AdminEnv, MountOptions } from "../handlers/mount-handlers.ts";
import { type AsKeyDependencies, callAsKey } from "./as-key-call.ts";
import { type BackupDependencies, backupCall } from "./backup-call.ts";
import { assetContent, type ContentDependencies, taskContent } from "./content-calls.ts";
import { mountStreaming } from "./streaming-call.ts";
import { type TailDependencies, tailRequests } from "./tail-call.ts";

export interface StreamingDependencies
  extends AsKeyDependencies,
    ContentDependencies,
    TailDependencies,
    BackupDependencies {}

/**
 * The calls that are not JSON in and JSON out. Before `mountHandlers`: some of these paths look to it like an id. A HEAD comes
 * as the GET that it stands for.
 */
export function mountStreamingRoutes(
  app: Hono<AdminEnv>,
  dependencies: StreamingDependencies,
  options: MountOptions,
): void {
  const asKey = {
    methods: ["GET", "POST", "PUT", "PATCH", "DELETE"],
    path: `${pattern(asKeyPath, "key")}/*`,
    needs: "member",
  } as const;
  mountStreaming(app, asKey, options, (call) => callAsKey(call, dependencies));
  const taskBytes = { methods: ["GET"], path: pattern(taskContentPath, "task"), needs: "viewer" } as const;
  mountStreaming(app, taskBytes, options, (call) => taskContent(call, dependencies));
  const assetBytes = { methods: ["GET"], path: pattern(assetContentPath, "asset"), needs: "viewer" } as const;
  mountStreaming(app, assetBytes, options, (call) => assetContent(call, dependencies));
  const tail = { methods: ["GET"], path: pattern(tailPath, ""), needs: "viewer" } as const;
  mountStreaming(app, tail, options, (call) => tailRequests(call, dependencies, options));
  const backup = { methods: ["POST"], path: backupPath, needs: "administrator", fresh: true } as const;
  mountStreaming(app, backup, options, backupCall(dependencies));
}

/** The contract's own path with names in it instead of ids. The names hold nothing that a path would encode. */
function pattern(pathOf: (workspace: string, id: string) => string, id: string): string {
  const [workspaceMark, idMark] = ["WORKSPACE", "ID"];
  return pathOf(workspaceMark, idMark).replace(workspaceMark, ":workspace").replace(idMark, `:${id}`);
}
