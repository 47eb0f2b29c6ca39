import { SegmentedControl, Select, Text, TextInput } from "@mantine/core";
import { useEffect, useState } from "react";
import type { Problem } from "../../client/problem.ts";
import { wrongField } from "../../components/wrong-field.ts";
import { t } from "../../language/areas/assets.ts";
import { AsKeyDialog } from "./as-key-form.tsx";
import { type AssetDraft, bodyOf, sourceOf } from "./asset-draft.ts";
import type { AssetGroup } from "./asset-group.ts";
import { assetTypes, assetTypeWords, typeOfAddress } from "./asset-types.ts";
import { DropZone } from "./drop-zone.tsx";
import { platformName } from "./platforms.ts";
import { nameOfFile, refusedFile } from "./upload-file.ts";

interface AddAssetProps {
  readonly slug: string;
  readonly groups: readonly AssetGroup[];
  /** The selected group; empty: all groups. */
  readonly group: string;
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly onAdded: (group: string) => void;
}

/** Adds an asset from a file or a URL. */
export function AddAsset({ slug, groups, group, opened, onClose, onAdded }: AddAssetProps) {
  const [written, setWritten] = useState(emptyDraft);
  const set = (change: Partial<AssetDraft>) => setWritten((before) => ({ ...before, ...change }));
  useEffect(() => {
    if (opened) setWritten(emptyDraft);
  }, [opened]);
  // A file may be chosen before the groups are loaded.
  const draft = { ...written, group: written.group || group || groups[0]?.id || "" };
  const platform = groups.find((each) => each.id === draft.group)?.platform ?? null;
  return (
    <AsKeyDialog
      slug={slug}
      title={t("assets.add.title")}
      opened={opened}
      onClose={onClose}
      path="/v1/assets"
      verb={t("assets.add.run")}
      done={sourceOf(draft, platform) === "file" ? t("assets.add.uploaded") : t("assets.add.done")}
      invalidates={["assets.list"]}
      body={bodyOf(draft, platform)}
      onDone={() => onAdded(draft.group)}
    >
      {(problem, sent) => (
        <>
          <Select
            label={t("assets.group")}
            data={groups.map((each) => ({
              value: each.id,
              label: t("assets.groups.nameAndPlatform", { name: each.name, platform: platformName(each.platform) }),
            }))}
            value={draft.group === "" ? null : draft.group}
            onChange={(next) => set({ group: next ?? "" })}
            allowDeselect={false}
            searchable={groups.length > 8}
            required
            error={wrongField(problem, "group_id") ?? wrongField(problem, "platform")}
            comboboxProps={{ withinPortal: false }}
          />
          <Source draft={draft} platform={platform} problem={problem} sent={sent} onChange={set} />
          <TextInput
            label={t("assets.name")}
            placeholder={draft.file === null ? t("assets.add.nameHint") : nameOfFile(draft.file.name)}
            maxLength={64}
            value={draft.name}
            error={wrongField(problem, "name")}
            onChange={(event) => set({ name: event.currentTarget.value })}
          />
        </>
      )}
    </AsKeyDialog>
  );
}

const emptyDraft: AssetDraft = { group: "", from: "file", file: null, url: "", name: "", type: null };

interface SourceProps {
  readonly draft: AssetDraft;
  readonly platform: string | null;
  readonly problem: Problem | null;
  readonly sent: number | null;
  readonly onChange: (change: Partial<AssetDraft>) => void;
}

/** The URL of the asset: provider libraries accept only URLs. */
function Source({ draft, platform, problem, sent, onChange }: SourceProps) {
  const source = sourceOf(draft, platform);
  const elsewhere = platform !== null && platform !== "local";
  return (
    <>
      <div>
        <SegmentedControl
          aria-label={t("assets.add.source")}
          fullWidth
          data={[
            { value: "file", label: t("assets.add.file"), disabled: elsewhere },
            { value: "url", label: t("assets.add.url") },
          ]}
          value={source}
          onChange={(from) => onChange({ from: from === "url" ? "url" : "file" })}
        />
        {elsewhere && (
          <Text size="xs" c="dimmed" mt={4}>
            {t("assets.upload.onlyLocal")}
          </Text>
        )}
      </div>
      {source === "file" ? (
        <DropZone file={draft.file} onFile={(file) => onChange({ file })} error={refusedFile(problem)} sent={sent} />
      ) : (
        <Address draft={draft} elsewhere={elsewhere} problem={problem} onChange={onChange} />
      )}
    </>
  );
}

type AddressProps = Pick<SourceProps, "draft" | "problem" | "onChange"> & { readonly elsewhere: boolean };

function Address({ draft, elsewhere, problem, onChange }: AddressProps) {
  const wrongType = wrongField(problem, "asset_type");
  return (
    <>
      <TextInput
        label={t("assets.add.url")}
        description={elsewhere ? t("assets.add.urlHelpElsewhere") : t("assets.add.urlHelp")}
        placeholder="https://example.com/hero.png"
        type="url"
        data-autofocus
        required
        maxLength={8_192}
        value={draft.url}
        error={wrongField(problem, "url")}
        onChange={(event) => onChange({ url: event.currentTarget.value })}
      />
      <div>
        <Text size="sm" fw={500} mb={2} component="div">
          {t("assets.type")}
        </Text>
        <SegmentedControl
          aria-label={t("assets.type")}
          aria-invalid={wrongType !== null}
          fullWidth
          data={assetTypes.map((type) => ({ value: type, label: assetTypeWords[type] }))}
          value={draft.type ?? typeOfAddress(draft.url.trim())}
          onChange={(next) => onChange({ type: assetTypes.find((each) => each === next) ?? null })}
        />
        {wrongType !== null && (
          <Text size="xs" c="var(--mantine-color-error)" role="alert">
            {wrongType}
          </Text>
        )}
      </div>
    </>
  );
}
