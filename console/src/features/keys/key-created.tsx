import { Select, Stack, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { type ConsoleKey, type ModelTypeName, modelTypes } from "@sluice/contract";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { SecretOnce } from "../../components/secret-once.tsx";
import { Snippets } from "../../components/snippets.tsx";
import { t } from "../../language/areas/keys.ts";
import { useSession } from "../../session/session-context.tsx";
import { type ModelAccess, useKeyModels } from "../access/use-access.ts";
import { isDemoName } from "../first-run/demo-name.ts";
import { firstPrompt } from "../first-run/steps.ts";

export interface CreatedKey {
  readonly key: ConsoleKey;
  readonly secret: string;
}

interface KeyCreatedProps {
  /** null: closed. It stays in the page's memory only as long as the dialog does. */
  readonly made: CreatedKey | null;
  readonly title: string;
  readonly onClose: () => void;
}

/** The secret of a new key, shown only once, with ready-to-paste calls. */
export function KeyCreated({ made, title, onClose }: KeyCreatedProps) {
  return made === null ? null : <Made key={made.secret} made={made} title={title} onClose={onClose} />;
}

function Made({ made: { key, secret }, title, onClose }: KeyCreatedProps & { readonly made: CreatedKey }) {
  const navigate = useNavigate();
  const [model, setModel] = useState<ModelAccess | null>(null);
  const callable = useCallable(key, model);
  const { chosen } = callable;
  const { answer } = useSession();
  const toPlayground = () => {
    onClose();
    const search = {
      workspace: key.workspace.slug,
      key: key.id,
      ...(chosen === null ? {} : { model: chosen.name }),
      // New users get a prepared first message.
      ...(answer.first_steps.call ? {} : { prompt: firstPrompt }),
    };
    void navigate({ to: "/playground", search });
  };
  return (
    <SecretOnce
      secret={secret}
      title={title}
      onClose={onClose}
      onward={{ label: t("keys.calls.playground"), go: toPlayground }}
    >
      <KeyCalls itemKey={key} secret={secret} callable={callable} onModel={setModel} />
    </SecretOnce>
  );
}

/** The chosen model, else the first chat model that the key may call; null if none. */
export function useCallable(key: ConsoleKey, model: ModelAccess | null) {
  const { rows } = useKeyModels(key.workspace.slug, key.id, { callable: "true" });
  return { loading: rows === null, chosen: model ?? firstOf(rows ?? []) };
}

interface KeyCallsProps {
  readonly itemKey: ConsoleKey;
  /** null: the snippets read it from the environment. */
  readonly secret: string | null;
  readonly callable: ReturnType<typeof useCallable>;
  readonly onModel: (model: ModelAccess) => void;
}

/** Ready calls with a model that the key may call. */
export function KeyCalls({ itemKey, secret, callable: { loading, chosen }, onModel }: KeyCallsProps) {
  const { answer } = useSession();
  if (loading) return null;
  if (chosen === null) {
    return (
      <Text size="sm" c="dimmed">
        {t("keys.calls.noModel")}
      </Text>
    );
  }
  return (
    <Stack gap="xs">
      <CallableSelect itemKey={itemKey} value={chosen} onChange={onModel} />
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

interface CallableSelectProps {
  readonly itemKey: ConsoleKey;
  readonly value: ModelAccess;
  readonly onChange: (model: ModelAccess) => void;
}

const quietMs = 250;

/** Selects a model that the key may call. There may be thousands, so the gateway searches. */
function CallableSelect({ itemKey, value, onChange }: CallableSelectProps) {
  const [text, setText] = useState("");
  const [asked] = useDebouncedValue(text, quietMs);
  // The box contains the name of the selection, which is not a search.
  const part = asked === value.name ? "" : asked;
  const { rows } = useKeyModels(itemKey.workspace.slug, itemKey.id, { part, callable: "true" });
  const found = rows ?? [];
  const choices = found.some(({ name }) => name === value.name) ? found : [value, ...found];
  return (
    <Select
      label={t("keys.calls.model")}
      data={choices.map(({ name }) => name)}
      value={value.name}
      onChange={(name) => {
        const next = choices.find((each) => each.name === name);
        if (next !== undefined) onChange(next);
      }}
      allowDeselect={false}
      searchable
      searchValue={text}
      onSearchChange={setText}
      filter={({ options }) => options}
      maxLength={256}
    />
  );
}

/** Chat models come first, because most users try them first. */
function firstOf(callable: readonly ModelAccess[]): ModelAccess | null {
  const chats = callable.filter((each) => each.type === "chat");
  return chats.find((each) => !isDemoName(each.name)) ?? chats[0] ?? callable[0] ?? null;
}

function typeOf(type: string): ModelTypeName {
  return modelTypes.find((known) => known === type) ?? "chat";
}
