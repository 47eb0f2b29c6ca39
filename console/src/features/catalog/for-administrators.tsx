import { IconLock } from "@tabler/icons-react";
import { EmptyState } from "../../components/empty-state.tsx";
import { PageFrame } from "../../components/page-frame.tsx";
import { t } from "../../language/areas/catalog.ts";

/** Shown to other users who open a page for administrators. */
export function ForAdministrators({ title }: { readonly title: string }) {
  return (
    <PageFrame title={title}>
      <div className="table-empty">
        <EmptyState icon={<IconLock />} title={t("catalog.administrators.title")}>
          {t("catalog.administrators.help")}
        </EmptyState>
      </div>
    </PageFrame>
  );
}
