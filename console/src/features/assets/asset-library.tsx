import { Button } from "@mantine/core";
import { IconFolderPlus, IconLibraryPhoto } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import { usePages } from "../../api/use-pages.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/assets.ts";
import { useUrlChange, useUrlSearch } from "../../routes/search.ts";
import { useSession } from "../../session/session-context.tsx";
import { AddAsset } from "./add-asset.tsx";
import { AssetDrawer } from "./asset-drawer.tsx";
import { AssetsOfGroup } from "./assets-of-group.tsx";
import { CreateGroup } from "./create-group.tsx";
import { GroupList } from "./group-list.tsx";

const liveMs = 2_500;
const quietMs = 30_000;

/** Groups on the left, their assets on the right. */
export function AssetLibrary({ slug }: { readonly slug: string }) {
  const { may } = useSession();
  const search = useUrlSearch();
  const change = useUrlChange();
  const [live, setLive] = useState(false);
  const params = { workspace: slug };
  const groups = usePages("assetGroups.list", { params, query: { limit: 200 } });
  const group = search["group"] ?? "";
  const assets = usePages("assets.list", {
    params,
    query: { limit: 60, ...(group === "" ? {} : { group }) },
    everyMs: live ? liveMs : quietMs,
  });
  const working = assets.rows?.some((asset) => asset.status === "Processing") === true;
  useEffect(() => setLive(working), [working]);
  const shown = assets.rows?.find((each) => each.id === search["asset"]) ?? null;
  const mayChange = may("member", slug);
  const dialog = search["create"] ?? "";
  const close = () => change({ create: "" });
  const createGroup = mayChange && (
    <Button
      variant={groups.rows?.length === 0 ? "filled" : "default"}
      leftSection={<IconFolderPlus size={14} aria-hidden />}
      onClick={() => change({ create: "group" })}
    >
      {t("assets.groups.create")}
    </Button>
  );
  return (
    <>
      {groups.rows !== null && groups.rows.length === 0 ? (
        <div className="table-empty">
          <EmptyState icon={<IconLibraryPhoto />} title={t("assets.empty.noGroups")} action={createGroup}>
            {t("assets.empty.noGroupsHelp")}
          </EmptyState>
        </div>
      ) : (
        <div className="assets-grid">
          <Section title={t("assets.groups.title")} actions={createGroup} flush>
            {groups.problem !== null && groups.rows === null ? (
              <ProblemAlert problem={groups.problem} onRetry={groups.reload} />
            ) : (
              <GroupList groups={groups} chosen={group} onChoose={(id) => change({ group: id, asset: "" })} />
            )}
          </Section>
          <AssetsOfGroup slug={slug} assets={assets} groups={groups.rows ?? []} group={group} mayChange={mayChange} />
        </div>
      )}
      <AssetDrawer
        slug={slug}
        asset={shown}
        group={groups.rows?.find(({ id }) => id === shown?.group_id)}
        onClose={() => change({ asset: "" })}
      />
      {mayChange && (
        <>
          <CreateGroup
            slug={slug}
            opened={dialog === "group"}
            onClose={close}
            onCreated={(id) => change({ create: "", group: id })}
          />
          <AddAsset
            slug={slug}
            groups={groups.rows ?? []}
            group={group}
            opened={dialog === "asset"}
            onClose={close}
            onAdded={(groupId) => change({ create: "", ...(group === "" ? {} : { group: groupId }) })}
          />
        </>
      )}
    </>
  );
}
