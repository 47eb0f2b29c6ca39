import { SegmentedControl, Select, Text, TextInput } from "@mantine/core";
import { useEffect, useState } from "react";
import { t } from "../../language/areas/assets.ts";
import { AsKeyDialog } from "./as-key-form.tsx";
import type { AssetGroup } from "./asset-group.ts";
import { assetTypes, typeOfAddress } from "./asset-types.ts";
import { platformName } from "./platforms.ts";

interface AddAssetProps {
  readonly slug: string;
  readonly groups: readonly AssetGroup[];
  /** The group that is looked at; empty: all of them. */
  readonly group: string;
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly onAdded: (group: string) => void;
}

interface AssetDraft {
  readonly group: string;
  readonly url: string;
  readonly name: string;
  /** null: by the address. */
  readonly type: (typeof assetTypes)[number] | null;
}

export function AddAsset({ slug, groups, group, opened, onClose, onAdded }: AddAssetProps) {
  const first = group || groups[0]?.id || "";
  const [draft, setDraft] = useState<AssetDraft>({ group: first, url: "", name: "", type: null });
  const set = (change: Partial<AssetDraft>) => setDraft((before) => ({ ...before, ...change }));
  useEffect(() => {
    if (opened) setDraft({ group: first, url: "", name: "", type: null });
  }, [opened, first]);
  const platform = groups.find((each) => each.id === draft.group)?.platform ?? null;
  const url = draft.url.trim();
  const type = draft.type ?? typeOfAddress(url);
  const body =
    platform === null || url === ""
      ? null
      : {
          platform,
          group_id: draft.group,
          url,
          asset_type: type,
          ...(draft.name.trim() === "" ? {} : { name: draft.name.trim() }),
        };
  return (
    <AsKeyDialog
      slug={slug}
      title={t("assets.add.title")}
      opened={opened}
      onClose={onClose}
      path="/v1/assets"
      verb={t("assets.add.run")}
      done={t("assets.add.done")}
      invalidates={["assets.list"]}
      body={body}
      fields={["url", "asset_type", "name", "group_id", "platform"]}
      onDone={() => onAdded(draft.group)}
    >
      {(problemOf) => (
        <>
          <TextInput
            label={t("assets.add.url")}
            description={platform === "local" ? t("assets.add.urlHelp") : t("assets.add.urlHelpElsewhere")}
            placeholder="https://example.com/hero.png"
            type="url"
            data-autofocus
            required
            maxLength={8_192}
            value={draft.url}
            error={problemOf("url")}
            onChange={(event) => set({ url: event.currentTarget.value })}
          />
          <div>
            <Text size="sm" fw={500} mb={2} component="div">
              {t("assets.type")}
            </Text>
            <SegmentedControl
              aria-label={t("assets.type")}
              fullWidth
              data={[...assetTypes]}
              value={type}
              onChange={(next) => set({ type: assetTypes.find((each) => each === next) ?? null })}
            />
            {problemOf("asset_type") !== null && (
              <Text size="xs" c="var(--mantine-color-error)" role="alert">
                {problemOf("asset_type")}
              </Text>
            )}
          </div>
          <TextInput
            label={t("assets.name")}
            placeholder={t("assets.add.nameHint")}
            maxLength={64}
            value={draft.name}
            error={problemOf("name")}
            onChange={(event) => set({ name: event.currentTarget.value })}
          />
          <Select
            label={t("assets.group")}
            data={groups.map((each) => ({ value: each.id, label: `${each.name} (${platformName(each.platform)})` }))}
            value={draft.group === "" ? null : draft.group}
            onChange={(next) => set({ group: next ?? "" })}
            allowDeselect={false}
            searchable={groups.length > 8}
            error={problemOf("group_id") ?? problemOf("platform")}
            comboboxProps={{ withinPortal: false }}
          />
        </>
      )}
    </AsKeyDialog>
  );
}
