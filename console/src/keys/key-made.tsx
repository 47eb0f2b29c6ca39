import { Select, Stack, Text } from "@mantine/core";
import type { ConsoleKey } from "@sluice/contract";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { type ModelAccess, useKeyModels } from "../access/use-access.ts";
import { SecretOnce } from "../parts/secret-once.tsx";
import { Snippets } from "../parts/snippets.tsx";
import { useSession } from "../session/session-context.tsx";

export interface MadeKey {
  readonly key: ConsoleKey;
  readonly secret: string;
}

interface KeyMadeProps {
  /** null: closed. It stays in the page's memory only as long as the dialog does. */
  readonly made: MadeKey | null;
  readonly title: string;
  readonly onClose: () => void;
}

/** The secret of a key, shown this once, with calls that are ready to be pasted. */
export function KeyMade({ made, title, onClose }: KeyMadeProps) {
  const navigate = useNavigate();
  const [model, setModel] = useState<string | null>(null);
  const close = () => {
    setModel(null);
    onClose();
  };
  const toPlayground = () => {
    if (made === null) return;
    close();
    const search = { workspace: made.key.workspace.slug, key: made.key.id, ...(model === null ? {} : { model }) };
    void navigate({ to: "/playground", search });
  };
  return (
    <SecretOnce
      secret={made?.secret ?? null}
      title={title}
      onClose={close}
      onward={{ label: "Open in the playground", go: toPlayground }}
    >
      {made !== null && <KeyCalls itemKey={made.key} secret={made.secret} model={model} onModel={setModel} />}
    </SecretOnce>
  );
}

interface KeyCallsProps {
  readonly itemKey: ConsoleKey;
  /** null: the snippets read it from the environment. */
  readonly secret: string | null;
  readonly model: string | null;
  readonly onModel: (model: string | null) => void;
}

/** Ready calls with a model that the key may call. */
export function KeyCalls({ itemKey, secret, model, onModel }: KeyCallsProps) {
  const { answer } = useSession();
  const { rows } = useKeyModels(itemKey.workspace.slug, itemKey.id);
  if (rows === null) return null;
  const callable = rows.filter((each) => each.reason === "yes");
  const chosen = callable.find((each) => each.name === model) ?? firstOf(callable);
  if (chosen === null) {
    return (
      <Text size="sm" c="dimmed">
        The key may call no model yet. Its page says why, model by model.
      </Text>
    );
  }
  return (
    <Stack gap="xs">
      <Select
        label="Use it with"
        data={callable.map((each) => each.name)}
        value={chosen.name}
        onChange={onModel}
        allowDeselect={false}
        searchable={callable.length > 8}
        limit={100}
      />
      <Snippets
        key={chosen.type}
        baseUrl={answer.public_url}
        apiKey={secret}
        model={chosen.name}
        type={typeOf(chosen.type)}
      />
    </Stack>
  );
}

/** Most want to talk to something first. */
function firstOf(callable: readonly ModelAccess[]): ModelAccess | null {
  return callable.find((each) => each.type === "chat") ?? callable[0] ?? null;
}

function typeOf(type: string): "chat" | "image" | "video" | "embedding" {
  return type === "image" || type === "video" || type === "embedding" ? type : "chat";
}
