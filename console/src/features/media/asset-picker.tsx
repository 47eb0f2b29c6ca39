import { SimpleGrid, Skeleton, UnstyledButton } from "@mantine/core";
import type { ConsoleAsset } from "@sluice/contract";
import { IconLibraryPhoto } from "@tabler/icons-react";
import { usePages } from "../../api/use-pages.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { LoadMore } from "../../components/load-more.tsx";
import { Modal } from "../../components/modal.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { t } from "../../language/areas/media.ts";
import { AssetView } from "./asset-view.tsx";

interface AssetPickerProps {
  readonly workspace: string;
  readonly opened: boolean;
  /** The allowed types; default: all. */
  readonly type?: ConsoleAsset["asset_type"];
  readonly onPick: (asset: ConsoleAsset) => void;
  readonly onClose: () => void;
}

/** Chooses one of the workspace's assets that are ready to be used. */
export function AssetPicker({ workspace, opened, type, onPick, onClose }: AssetPickerProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={t("media.assets.choose")} size="lg">
      {opened && <Choices workspace={workspace} onPick={onPick} {...(type === undefined ? {} : { type })} />}
    </Modal>
  );
}

function Choices({ workspace, type, onPick }: Pick<AssetPickerProps, "workspace" | "type" | "onPick">) {
  const assets = usePages("assets.list", { params: { workspace }, query: { limit: 60 } });
  if (assets.problem !== null) return <ProblemAlert problem={assets.problem} onRetry={assets.reload} />;
  if (assets.rows === null) return <Skeleton height={160} />;
  const usable = assets.rows.filter(
    (asset) => asset.status === "Active" && (type ?? asset.asset_type) === asset.asset_type,
  );
  return (
    <>
      {usable.length === 0 && assets.more === null && (
        <EmptyState icon={<IconLibraryPhoto />} title={t("media.assets.noneReady", { type: type ?? "any" })}>
          {t("media.assets.noneReadyHelp")}
        </EmptyState>
      )}
      <SimpleGrid cols={{ base: 2, xs: 3, sm: 4 }} spacing="xs">
        {usable.map((asset) => (
          <UnstyledButton key={asset.id} className="asset-choice" onClick={() => onPick(asset)}>
            <span className="asset-frame">
              <AssetView workspace={workspace} asset={asset} />
            </span>
            <span className="cut">{asset.name === "" ? asset.id : asset.name}</span>
          </UnstyledButton>
        ))}
      </SimpleGrid>
      <LoadMore rows={assets} />
    </>
  );
}
