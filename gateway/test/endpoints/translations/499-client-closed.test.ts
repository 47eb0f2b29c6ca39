import { clientDisconnects } from "../forwarding-suite.ts";
import { translationsEndpoint } from "./endpoint.ts";

clientDisconnects(translationsEndpoint);
