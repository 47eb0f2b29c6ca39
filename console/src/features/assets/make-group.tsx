import { Radio, Stack, Textarea, TextInput } from "@mantine/core";
import { useEffect, useState } from "react";
import { t } from "../../language/areas/assets.ts";
import { AsKeyDialog } from "./as-key-form.tsx";
import { platforms } from "./platforms.ts";

interface MakeGroupProps {
  readonly slug: string;
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly onMade: (group: string) => void;
}

const plain = { name: "", description: "", platform: "local" };

export function MakeGroup({ slug, opened, onClose, onMade }: MakeGroupProps) {
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
      fields={["name", "description", "platform"]}
      onDone={(answer) => onMade(idIn(answer))}
    >
      {(problemOf) => (
        <>
          <TextInput
            label={t("assets.name")}
            placeholder={t("assets.groups.nameHint")}
            data-autofocus
            required
            maxLength={64}
            value={draft.name}
            error={problemOf("name")}
            onChange={(event) => set({ name: event.currentTarget.value })}
          />
          <Textarea
            label={t("assets.groups.description")}
            placeholder={t("assets.groups.descriptionHint")}
            autosize
            minRows={1}
            maxLength={300}
            value={draft.description}
            error={problemOf("description")}
            onChange={(event) => set({ description: event.currentTarget.value })}
          />
          <Radio.Group
            label={t("assets.groups.platform")}
            description={t("assets.groups.platformHelp")}
            value={draft.platform}
            error={problemOf("platform")}
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
