import { Alert, Button, Drawer, Group, Stack, Text } from "@mantine/core";
import type { ConsoleAsset } from "@sluice/contract";
import { Link } from "@tanstack/react-router";
import { useAct } from "../../api/use-act.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { CopyText } from "../../components/copy-button.tsx";
import { Bytes, When } from "../../components/figures.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { useSession } from "../../session/session-context.tsx";
import { AssetView } from "../media/asset-view.tsx";
import type { AssetGroup } from "./asset-group.ts";
import { platformName } from "./platforms.ts";

interface AssetDrawerProps {
  readonly slug: string;
  /** null: closed. */
  readonly asset: ConsoleAsset | null;
  readonly group: AssetGroup | undefined;
  readonly onClose: () => void;
}

/** One asset, large, and what can be done with it. */
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
  const remove = useAct("assets.remove", { invalidates: ["assets.list"], done: "Asset removed.", onDone: onClose });
  const address = `asset://${asset.id}`;
  const active = asset.status === "Active";
  return (
    <Stack gap="md">
      <div className="asset-large">
        <AssetView key={asset.updated_at} workspace={slug} asset={asset} large />
      </div>
      {!asset.has_content && active && (
        <Text size="xs" c="dimmed">
          Its bytes are in the library of {platformName(asset.platform)}, so there is nothing to be seen here.
        </Text>
      )}
      {asset.error !== null && (
        <Alert color="red" variant="light" title={asset.error.message}>
          <Text size="xs">
            Code <code>{asset.error.code}</code>. It stays until it is removed; mend the cause and add it again.
          </Text>
        </Alert>
      )}
      <dl className="facts-list">
        <dt>State</dt>
        <dd>
          <StatusBadge status={asset.status} />
        </dd>
        <dt>Refer to it as</dt>
        <dd>
          <CopyText value={address} label="Copy asset:// address" />
        </dd>
        <dt>Type</dt>
        <dd>{[asset.asset_type, asset.content_type].filter((each) => each !== null).join(", ")}</dd>
        <dt>Size</dt>
        <dd>
          <Bytes value={asset.size_bytes} />
        </dd>
        <dt>Group</dt>
        <dd>
          {group?.name ?? asset.group_id}, {platformName(asset.platform)}
        </dd>
        <dt>Added</dt>
        <dd>
          <When at={asset.created_at} />
        </dd>
      </dl>
      {may("member", slug) && (
        <Group justify="flex-end" gap="xs">
          <ConfirmButton
            title="Remove this asset?"
            verb="Remove asset"
            onConfirm={() => remove.mutateAsync({ params: { workspace: slug, asset: asset.id } })}
          >
            Requests that refer to it are refused from then on. Videos under way are not touched. It is removed here and
            in the library where it lives, and cannot be brought back.
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
        Use as reference
      </Button>
      {asset.asset_type === "Image" && (
        <Button
          renderRoot={(props) => (
            <Link to="/playground" search={{ workspace: slug, type: "video", image: address }} {...props} />
          )}
        >
          Use as first frame
        </Button>
      )}
    </>
  );
}
