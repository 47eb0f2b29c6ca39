import { asKeyPath, assetContentPath, backupPath, tailPath, taskContentPath } from "@sluice/contract/words";
import type { Hono } from "hono";
import type { AdminEnv, MountOptions } from "../calls/mount-calls.ts";
import { type AsKeyHouse, callAsKey } from "./as-key-call.ts";
import { type BackupHouse, backupCall } from "./backup-call.ts";
import { assetContent, type ContentHouse, taskContent } from "./content-calls.ts";
import { mountRaw } from "./raw-call.ts";
import { type TailHouse, tailRequests } from "./tail-call.ts";

export interface RawCallsHouse extends AsKeyHouse, ContentHouse, TailHouse, BackupHouse {}

/**
 * The calls that are not JSON in and JSON out. Before `mountCalls`: some of these paths look to it like an id. A HEAD comes
 * as the GET that it stands for.
 */
export function mountRawCalls(app: Hono<AdminEnv>, house: RawCallsHouse, options: MountOptions): void {
  const asKey = {
    methods: ["GET", "POST", "PUT", "PATCH", "DELETE"],
    path: `${pattern(asKeyPath, "key")}/*`,
    needs: "member",
  } as const;
  mountRaw(app, asKey, options, (call) => callAsKey(call, house));
  const taskBytes = { methods: ["GET"], path: pattern(taskContentPath, "task"), needs: "viewer" } as const;
  mountRaw(app, taskBytes, options, (call) => taskContent(call, house));
  const assetBytes = { methods: ["GET"], path: pattern(assetContentPath, "asset"), needs: "viewer" } as const;
  mountRaw(app, assetBytes, options, (call) => assetContent(call, house));
  const tail = { methods: ["GET"], path: pattern(tailPath, ""), needs: "viewer" } as const;
  mountRaw(app, tail, options, (call) => tailRequests(call, house, options));
  const backup = { methods: ["POST"], path: backupPath, needs: "administrator", fresh: true } as const;
  mountRaw(app, backup, options, backupCall(house));
}

/** The contract's own path with names in it instead of ids. The names hold nothing that a path would encode. */
function pattern(pathOf: (workspace: string, id: string) => string, id: string): string {
  const [workspaceMark, idMark] = ["WORKSPACE", "ID"];
  return pathOf(workspaceMark, idMark).replace(workspaceMark, ":workspace").replace(idMark, `:${id}`);
}
