import { ActionIcon, Button, Group, NativeSelect, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconLibraryPhoto, IconPlus, IconX } from "@tabler/icons-react";
import { t } from "../../../language/areas/playground.ts";
import { AssetPicker } from "../../media/asset-picker.tsx";
import type { Reference } from "../../media/video-draft.ts";

interface ReferenceListProps {
  readonly workspace: string;
  readonly value: readonly Reference[];
  readonly error: string | null;
  readonly onChange: (references: readonly Reference[]) => void;
}

const types = ["image", "video", "audio"] as const;

/** Reference material for the look and sound of the video. */
export function ReferenceList({ workspace, value, error, onChange }: ReferenceListProps) {
  const [picking, { open, close }] = useDisclosure(false);
  const change = (at: number, edit: Partial<Reference>) =>
    onChange(value.map((each, index) => (index === at ? { ...each, ...edit } : each)));
  return (
    <fieldset className="references">
      <legend>{t("playground.video.references")}</legend>
      <Text size="xs" c="dimmed">
        {t("playground.video.referencesHelp")}
      </Text>
      {value.map((reference, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same one may be there twice.
        <Group key={at} gap={4} wrap="nowrap">
          <TextInput
            className="grow"
            aria-label={t("playground.video.reference", { number: at + 1 })}
            placeholder={t("playground.video.urlHint")}
            maxLength={8_192}
            value={reference.url}
            onChange={(event) => change(at, { url: event.currentTarget.value })}
          />
          <NativeSelect
            aria-label={t("playground.video.referenceType", { number: at + 1 })}
            data={types.map((type) => ({ value: type, label: t(`playground.video.kinds.${type}`) }))}
            value={reference.type}
            onChange={(event) =>
              change(at, { type: types.find((type) => type === event.currentTarget.value) ?? "image" })
            }
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={t("playground.video.referenceRemove", { number: at + 1 })}
            onClick={() => onChange(value.filter((_, index) => index !== at))}
          >
            <IconX size={15} />
          </ActionIcon>
        </Group>
      ))}
      {error !== null && (
        <Text size="xs" c="var(--mantine-color-error)" role="alert">
          {error}
        </Text>
      )}
      <Group gap="xs">
        <Button
          variant="subtle"
          size="compact-xs"
          leftSection={<IconLibraryPhoto size={14} aria-hidden />}
          onClick={open}
        >
          {t("playground.video.addAsset")}
        </Button>
        <Button
          variant="subtle"
          size="compact-xs"
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={() => onChange([...value, { url: "", type: "image" }])}
        >
          {t("playground.video.addUrl")}
        </Button>
      </Group>
      <AssetPicker
        workspace={workspace}
        opened={picking}
        onClose={close}
        onPick={(asset) => {
          const type = types.find((each) => each === asset.asset_type.toLowerCase()) ?? "image";
          onChange([...value, { url: `asset://${asset.id}`, type }]);
          close();
        }}
      />
    </fieldset>
  );
}
