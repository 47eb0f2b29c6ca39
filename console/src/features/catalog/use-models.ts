import type { ConsoleModel } from "@sluice/contract";
import { useMemo } from "react";
import { useCall } from "../../api/use-call.ts";

/** Existing models by name; empty while they load. */
export function useModels(): ReadonlyMap<string, ConsoleModel> {
  const models = useCall("models.list").data?.data;
  return useMemo(() => new Map((models ?? []).map((model) => [model.name, model])), [models]);
}
