import { clientDisconnects } from "../forwarding-suite.ts";
import { rerankEndpoint } from "./endpoint.ts";

clientDisconnects(rerankEndpoint);
