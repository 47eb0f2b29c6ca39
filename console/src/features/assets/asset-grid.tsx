import { Skeleton } from "@mantine/core";
import type { ConsoleAsset } from "@sluice/contract";
import { IconLibraryPhoto } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { Rows } from "../../api/use-pages.ts";
import { countWords } from "../../components/count-words.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { LoadMore } from "../../components/load-more.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { t } from "../../language/areas/assets.ts";
import { AssetCard } from "./asset-card.tsx";
import type { AssetGroup } from "./asset-group.ts";

interface AssetGridProps {
  readonly slug: string;
  readonly assets: Rows<ConsoleAsset>;
  readonly groups: readonly AssetGroup[];
  readonly onOpen: (id: string) => void;
  readonly add: ReactNode;
}

export function AssetGrid({ slug, assets, groups, onOpen, add }: AssetGridProps) {
  if (assets.rows === null) {
    if (assets.problem !== null) return <ProblemAlert problem={assets.problem} onRetry={assets.reload} />;
    return <Skeleton height={220} />;
  }
  if (assets.rows.length === 0 && assets.more === null) {
    return (
      <EmptyState icon={<IconLibraryPhoto />} title={t("assets.empty.title")} action={add}>
        {t("assets.empty.help")}
      </EmptyState>
    );
  }
  return (
    <>
      {assets.problem !== null && <ProblemAlert problem={assets.problem} onRetry={assets.reload} />}
      <div className="gallery gallery-small" data-stale={assets.stale || undefined}>
        {assets.rows.map((asset) => (
          <AssetCard
            key={asset.id}
            slug={slug}
            asset={asset}
            group={groups.find((group) => group.id === asset.group_id)?.name ?? null}
            onOpen={() => onOpen(asset.id)}
          />
        ))}
      </div>
      <p className="list-count">{countWords(assets.rows.length, assets)}</p>
      <LoadMore rows={assets} />
    </>
  );
}
