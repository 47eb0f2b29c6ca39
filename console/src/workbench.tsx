import { Stack } from "@mantine/core";
import { useCallback, useMemo, useState } from "react";
import { ChatBox } from "./chat/chat-box.tsx";
import { getModels, getUsage } from "./client/call.ts";
import { useLoaded } from "./client/use-loaded.ts";
import { ModelList } from "./models/model-list.tsx";
import { UsagePanel } from "./usage/usage-panel.tsx";

/** The ledger writes entries to the database a moment after their end. */
const usageDelayMs = 1_500;

/** What one key can do: its models, a chat with one of them, its usage. */
export function Workbench({ apiKey, onLeave }: { readonly apiKey: string; readonly onLeave: () => void }) {
  const loadModels = useCallback((signal: AbortSignal) => getModels(apiKey, signal), [apiKey]);
  const loadUsage = useCallback((signal: AbortSignal) => getUsage(apiKey, signal), [apiKey]);
  const models = useLoaded(loadModels);
  const usage = useLoaded(loadUsage);
  const [chosen, setChosen] = useState<string | null>(null);

  const chatModels = useMemo(
    () => (models.value?.data ?? []).filter((model) => model.type === "chat").map((model) => model.id),
    [models.value],
  );
  const model = chosen !== null && chatModels.includes(chosen) ? chosen : (chatModels[0] ?? null);
  const reloadUsage = usage.reload;
  const afterAnswer = useCallback(() => {
    setTimeout(reloadUsage, usageDelayMs);
  }, [reloadUsage]);

  return (
    <div className="workbench">
      <ChatBox apiKey={apiKey} model={model} models={chatModels} onModel={setChosen} onAnswer={afterAnswer} />
      <Stack gap="lg">
        <ModelList models={models} chosen={model} onChoose={setChosen} onLeave={onLeave} />
        <UsagePanel usage={usage} />
      </Stack>
    </div>
  );
}
