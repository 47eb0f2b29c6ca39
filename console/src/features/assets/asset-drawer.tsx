import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import type { ConsoleAsset } from "@sluice/contract";
import { Link } from "@tanstack/react-router";
import { useAct } from "../../api/use-act.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { CopyText } from "../../components/copy-button.tsx";
import { Drawer } from "../../components/drawer.tsx";
import { FactRow } from "../../components/facts.tsx";
import { Bytes, When } from "../../components/figures.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { Rich, t } from "../../language/areas/assets.ts";
import { useSession } from "../../session/session-context.tsx";
import { AssetView } from "../media/asset-view.tsx";
import type { AssetGroup } from "./asset-group.ts";
import { assetTypeWords } from "./asset-types.ts";
import { platformName } from "./platforms.ts";

interface AssetDrawerProps {
  readonly slug: string;
  /** null: closed. */
  readonly asset: ConsoleAsset | null;
  readonly group: AssetGroup | undefined;
  readonly onClose: () => void;
}

/** One asset in large size, with its actions. */
export function AssetDrawer({ slug, asset, group, onClose }: AssetDrawerProps) {
  return (
    <Drawer
      opened={asset !== null}
      onClose={onClose}
      title={asset === null ? "" : asset.name === "" ? asset.id : asset.name}
      size="lg"
    >
      {asset !== null && <AssetBody slug={slug} asset={asset} group={group} onClose={onClose} />}
    </Drawer>
  );
}

function AssetBody({ slug, asset, group, onClose }: AssetDrawerProps & { readonly asset: ConsoleAsset }) {
  const { may } = useSession();
  const remove = useAct("assets.remove", {
    invalidates: ["assets.list"],
    done: t("assets.detail.removed"),
    onDone: onClose,
  });
  const address = `asset://${asset.id}`;
  const active = asset.status === "Active";
  return (
    <Stack gap="md">
      <div className="asset-large">
        <AssetView key={asset.updated_at} workspace={slug} asset={asset} large />
      </div>
      {!asset.has_content && active && (
        <Text size="xs" c="dimmed">
          {t("assets.detail.elsewhere", { platform: platformName(asset.platform) })}
        </Text>
      )}
      {asset.error !== null && (
        <Alert color="red" variant="light" title={asset.error.message}>
          <Text size="xs">
            <Rich
              text="assets.detail.failed"
              tags={{ code: (code) => <code>{code}</code> }}
              values={{ code: asset.error.code }}
            />
          </Text>
        </Alert>
      )}
      <dl className="facts-list">
        <FactRow name={t("assets.detail.status")}>
          <StatusBadge status={asset.status} />
        </FactRow>
        <FactRow name={t("assets.detail.url")}>
          <CopyText value={address} label={t("assets.copyUrl")} />
        </FactRow>
        <FactRow name={t("assets.type")}>
          {[assetTypeWords[asset.asset_type], asset.content_type].filter((each) => each !== null).join(", ")}
        </FactRow>
        <FactRow name={t("assets.detail.size")}>
          <Bytes value={asset.size_bytes} />
        </FactRow>
        <FactRow name={t("assets.group")}>
          {t("assets.groups.nameAndPlatform", {
            name: group?.name ?? asset.group_id,
            platform: platformName(asset.platform),
          })}
        </FactRow>
        <FactRow name={t("assets.detail.added")}>
          <When at={asset.created_at} />
        </FactRow>
      </dl>
      {may("member", slug) && (
        <Group justify="flex-end" gap="xs">
          <ConfirmButton
            title={t("assets.detail.remove")}
            verb={t("assets.detail.removeRun")}
            onConfirm={() => remove.mutateAsync({ params: { workspace: slug, asset: asset.id } })}
          >
            {t("assets.detail.removeHelp")}
          </ConfirmButton>
          {active && <UseInVideo slug={slug} asset={asset} />}
        </Group>
      )}
    </Stack>
  );
}

/** A picture can be the first frame; anything can be a reference. */
function UseInVideo({ slug, asset }: { readonly slug: string; readonly asset: ConsoleAsset }) {
  const address = `asset://${asset.id}`;
  const reference = { reference: address, reference_type: asset.asset_type.toLowerCase() };
  return (
    <>
      <Button
        variant={asset.asset_type === "Image" ? "default" : "filled"}
        renderRoot={(props) => (
          <Link to="/playground" search={{ workspace: slug, type: "video", ...reference }} {...props} />
        )}
      >
        {t("assets.detail.useAsReference")}
      </Button>
      {asset.asset_type === "Image" && (
        <Button
          renderRoot={(props) => (
            <Link to="/playground" search={{ workspace: slug, type: "video", image: address }} {...props} />
          )}
        >
          {t("assets.detail.useAsFirstFrame")}
        </Button>
      )}
    </>
  );
}
