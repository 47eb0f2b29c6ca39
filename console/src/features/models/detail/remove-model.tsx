import { useNavigate } from "@tanstack/react-router";
import { useAct } from "../../../api/use-act.ts";
import { ConfirmButton } from "../../../components/confirm-button.tsx";
import { t } from "../../../language/areas/models.ts";

export function RemoveModel({ name }: { readonly name: string }) {
  const navigate = useNavigate();
  const remove = useAct("models.remove", {
    invalidates: ["models.list", "providers.list"],
    done: t("models.detail.removed", { name }),
    onDone: () => void navigate({ to: "/models", search: {} }),
  });
  return (
    <ConfirmButton
      title={t("models.detail.removeTitle", { name })}
      verb={t("models.detail.remove")}
      label={t("models.remove")}
      typed={name}
      onConfirm={() => remove.mutateAsync({ params: { model: name } })}
    >
      {t("models.detail.removeHelp")}
    </ConfirmButton>
  );
}
