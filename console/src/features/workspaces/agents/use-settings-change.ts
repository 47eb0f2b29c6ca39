import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { type Act, type ActSettings, useAct } from "../../../api/use-act.ts";
import { afterSettingsChange } from "./settings-routes.ts";

type Route = "agents.setSettings";

/** Saves a group's settings. If another user saved first, shows their version. */
export function useSettingsChange(told: Pick<ActSettings<Route>, "done" | "onDone">): Act<Route> {
  const queries = useQueryClient();
  const change = useAct("agents.setSettings", { inline: true, invalidates: afterSettingsChange, ...told });
  const conflict = change.error?.code === "conflict";
  useEffect(() => {
    if (!conflict) return;
    for (const route of afterSettingsChange) void queries.invalidateQueries({ queryKey: [route] });
  }, [conflict, queries]);
  return change;
}
