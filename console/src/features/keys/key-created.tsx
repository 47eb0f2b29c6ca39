import { Select, Stack, Text } from "@mantine/core";
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

/** The secret of a key, shown this once, with calls that are ready to be pasted. */
export function KeyCreated({ made, title, onClose }: KeyCreatedProps) {
  return made === null ? null : <Made key={made.secret} made={made} title={title} onClose={onClose} />;
}

function Made({ made: { key, secret }, title, onClose }: KeyCreatedProps & { readonly made: CreatedKey }) {
  const navigate = useNavigate();
  const [model, setModel] = useState<string | null>(null);
  const { chosen } = useCallable(key, model);
  const { answer } = useSession();
  const toPlayground = () => {
    onClose();
    const search = {
      workspace: key.workspace.slug,
      key: key.id,
      ...(chosen === null ? {} : { model: chosen.name }),
      // Whoever has never sent anything has the first question written for them.
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
      <KeyCalls itemKey={key} secret={secret} model={model} onModel={setModel} />
    </SecretOnce>
  );
}

/** The models that a key may call, and the one that was chosen, else the first to talk to. null: they load. */
export function useCallable(key: ConsoleKey, model: string | null) {
  const { rows } = useKeyModels(key.workspace.slug, key.id);
  const callable = rows?.filter((each) => each.reason === "yes") ?? null;
  return { callable, chosen: callable?.find((each) => each.name === model) ?? firstOf(callable ?? []) };
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
  const { callable, chosen } = useCallable(itemKey, model);
  if (callable === null) return null;
  if (chosen === null) {
    return (
      <Text size="sm" c="dimmed">
        {t("keys.calls.noModel")}
      </Text>
    );
  }
  return (
    <Stack gap="xs">
      <Select
        label={t("keys.calls.model")}
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
  const chats = callable.filter((each) => each.type === "chat");
  return chats.find((each) => !isDemoName(each.name)) ?? chats[0] ?? callable[0] ?? null;
}

function typeOf(type: string): ModelTypeName {
  return modelTypes.find((known) => known === type) ?? "chat";
}
