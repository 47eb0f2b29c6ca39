import { Button, Group, Stack, Text, Textarea } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { t } from "../../../language/areas/playground.ts";
import type { ToolCall } from "./reply.ts";

interface ToolResultsProps {
  readonly calls: readonly ToolCall[];
  readonly onSend: (results: Readonly<Record<string, string>>) => void;
}

/** The playground runs no tools: the user enters their results. */
export function ToolResults({ calls, onSend }: ToolResultsProps) {
  const [results, setResults] = useState<Readonly<Record<string, string>>>({});
  const ready = calls.every((call) => (results[call.id] ?? "").trim() !== "");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (ready) onSend(results);
  };
  return (
    <form onSubmit={submit} className="tool-results" aria-label={t("playground.tools.results")}>
      <Stack gap="xs">
        <Text size="xs" c="dimmed">
          {t("playground.tools.waiting", { count: calls.length })}
        </Text>
        {calls.map((call) => (
          <Textarea
            key={call.id}
            label={t("playground.tools.result", { name: call.name })}
            placeholder={'{"temperature": 18, "sky": "clear"}'}
            autosize
            minRows={1}
            maxRows={8}
            className="written"
            value={results[call.id] ?? ""}
            onChange={(event) => {
              const { value } = event.currentTarget;
              setResults((before) => ({ ...before, [call.id]: value }));
            }}
          />
        ))}
        <Group justify="flex-end">
          <Button type="submit" variant="default" disabled={!ready}>
            {t("playground.tools.send", { count: calls.length })}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
