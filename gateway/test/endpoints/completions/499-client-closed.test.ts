import { clientDisconnects } from "../forwarding-suite.ts";
import { completionsEndpoint } from "./endpoint.ts";

clientDisconnects(completionsEndpoint);
