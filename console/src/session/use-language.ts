import { useEffect } from "react";
import { useAuthAct } from "../api/use-auth.ts";
import { type Language, language, showIn } from "../language/index.ts";

/** What somebody chose goes with them to every browser; a choice made before they signed in stays until they make one. */
export function useOwnLanguage(chosen: Language | null): void {
  useEffect(() => {
    if (chosen !== null && chosen !== language) showIn(chosen);
  }, [chosen]);
}

/** Stores the choice with the user and shows the console in it. null: as the browser says. */
export function useChooseLanguage() {
  const { mutateAsync, isPending } = useAuthAct<{ language: Language | null }>("/update-user");
  const choose = async (chosen: Language | null) => {
    // What went wrong is shown by the act; the page stays as it is.
    const stored = await mutateAsync({ language: chosen }).then(
      () => true,
      () => false,
    );
    if (stored) showIn(chosen);
  };
  return { choose, isPending };
}
