import { Radio, Stack, Textarea, TextInput } from "@mantine/core";
import { useEffect, useState } from "react";
import { wrongField } from "../../components/wrong-field.ts";
import { t } from "../../language/areas/assets.ts";
import { AsKeyDialog } from "./as-key-form.tsx";
import { platforms } from "./platforms.ts";

interface CreateGroupProps {
  readonly slug: string;
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly onCreated: (group: string) => void;
}

const plain = { name: "", description: "", platform: "local" };

export function CreateGroup({ slug, opened, onClose, onCreated }: CreateGroupProps) {
  const [draft, setDraft] = useState(plain);
  const set = (change: Partial<typeof plain>) => setDraft((before) => ({ ...before, ...change }));
  useEffect(() => {
    if (opened) setDraft(plain);
  }, [opened]);
  const name = draft.name.trim();
  return (
    <AsKeyDialog
      slug={slug}
      title={t("assets.groups.createTitle")}
      opened={opened}
      onClose={onClose}
      path="/v1/asset-groups"
      verb={t("assets.groups.create")}
      done={t("assets.groups.created")}
      invalidates={["assetGroups.list"]}
      body={name === "" ? null : { platform: draft.platform, name, description: draft.description.trim() }}
      onDone={(answer) => onCreated(idIn(answer))}
    >
      {(problem) => (
        <>
          <TextInput
            label={t("assets.name")}
            placeholder={t("assets.groups.nameHint")}
            data-autofocus
            required
            maxLength={64}
            value={draft.name}
            error={wrongField(problem, "name")}
            onChange={(event) => set({ name: event.currentTarget.value })}
          />
          <Textarea
            label={t("assets.groups.description")}
            placeholder={t("assets.groups.descriptionHint")}
            autosize
            minRows={1}
            maxLength={300}
            value={draft.description}
            error={wrongField(problem, "description")}
            onChange={(event) => set({ description: event.currentTarget.value })}
          />
          <Radio.Group
            label={t("assets.groups.platform")}
            description={t("assets.groups.platformHelp")}
            value={draft.platform}
            error={wrongField(problem, "platform")}
            onChange={(platform) => set({ platform })}
          >
            <Stack gap="xs" mt="xs">
              {platforms.map(({ id, name: words, about }) => (
                <Radio key={id} value={id} label={words} description={about} size="sm" />
              ))}
            </Stack>
          </Radio.Group>
        </>
      )}
    </AsKeyDialog>
  );
}

function idIn(answer: unknown): string {
  const id = answer !== null && typeof answer === "object" ? Reflect.get(answer, "id") : null;
  return typeof id === "string" ? id : "";
}
