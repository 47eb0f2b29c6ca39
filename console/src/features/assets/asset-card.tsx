import type { ConsoleAsset } from "@sluice/contract";
import { CopyButton } from "../../components/copy-button.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { t } from "../../language/areas/assets.ts";
import { AssetView } from "../media/asset-view.tsx";
import { assetTypeWords } from "./asset-types.ts";

interface AssetCardProps {
  readonly slug: string;
  readonly asset: ConsoleAsset;
  readonly group: string | null;
  readonly onOpen: () => void;
}

export function AssetCard({ slug, asset, group, onOpen }: AssetCardProps) {
  return (
    <article className="asset-card">
      <div className="asset-frame">
        <AssetView workspace={slug} asset={asset} />
      </div>
      <div className="asset-body">
        <button type="button" className="asset-open cut" onClick={onOpen}>
          {asset.name === "" ? asset.id : asset.name}
        </button>
        <div className="task-card-line">
          <StatusBadge status={asset.status} />
          <span className="cut">{group ?? assetTypeWords[asset.asset_type]}</span>
          <span className="asset-actions">
            {asset.status === "Active" && <CopyButton value={`asset://${asset.id}`} label={t("assets.copyUrl")} />}
          </span>
        </div>
        {asset.error !== null && (
          <p className="history-quiet run-note" title={asset.error.code}>
            {asset.error.message}
          </p>
        )}
      </div>
    </article>
  );
}
