import type { ProviderKindForm } from "@sluice/contract";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { FormDrawer } from "../../../components/form-drawer.tsx";
import { Modal } from "../../../components/modal.tsx";
import { t } from "../../../language/areas/providers.ts";
import { afterCatalogChange } from "../../catalog/catalog-routes.ts";
import { createBody, draftFaults, newDraft } from "../../catalog/provider-draft.ts";
import { ProviderFields } from "../../catalog/provider-fields.tsx";
import { useFaults } from "../../catalog/use-faults.ts";
import { useKinds } from "../../catalog/use-kinds.ts";
import { KindGallery } from "./kind-gallery.tsx";

interface AddProviderProps {
  /** The selected provider type. Any other value: none selected yet. */
  readonly kind: string;
  readonly onKind: (kind: string) => void;
  readonly onClose: () => void;
  /** Existing ids. */
  readonly usedIds: readonly string[];
}

/** First asks for the provider type, then for its settings. The new provider is tested immediately on its page. */
export function AddProvider({ kind, onKind, onClose, usedIds: taken }: AddProviderProps) {
  const { kinds, kindOf } = useKinds();
  const form = kindOf(kind);
  if (form !== null) {
    return (
      <NewProvider key={form.kind} form={form} usedIds={taken} onClose={onClose} onBack={() => onKind("choose")} />
    );
  }
  return (
    <Modal opened onClose={onClose} title={t("providers.add.title")} size="56rem" centered={false}>
      <KindGallery kinds={kinds} onChoose={onKind} />
    </Modal>
  );
}

interface NewProviderProps {
  readonly form: ProviderKindForm;
  readonly usedIds: readonly string[];
  readonly onClose: () => void;
  readonly onBack: () => void;
}

function NewProvider({ form, usedIds: taken, onClose, onBack }: NewProviderProps) {
  const [empty] = useState(() => newDraft(form.kind, taken));
  const [draft, setDraft] = useState(empty);
  const navigate = useNavigate();
  const create = useAct("providers.create", {
    invalidates: afterCatalogChange,
    inline: true,
    done: (provider) => t("providers.add.done", { id: provider.id }),
    onDone: ({ id }) =>
      void navigate({
        to: "/providers/$provider",
        params: { provider: id },
        search: { tab: "test", run: "now" },
      }),
  });
  const faults = useFaults(draftFaults(draft, form, null, taken), create.error);
  const submit = () => {
    if (faults.check()) create.mutate({ body: createBody(draft, form) });
  };
  return (
    <FormDrawer
      opened
      openedBy={["add"]}
      title={t("providers.add.named", { title: form.title })}
      verb={t("providers.add.save")}
      onClose={onClose}
      onSubmit={submit}
      saving={create.isPending}
      problem={create.error}
    >
      <button type="button" className="text-button fit" onClick={onBack}>
        {t("providers.add.otherKind")}
      </button>
      <ProviderFields draft={draft} onChange={setDraft} form={form} isNew fault={faults.of} />
    </FormDrawer>
  );
}
