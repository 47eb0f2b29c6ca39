import { credentials } from "../forwarding-suite.ts";
import { rerankEndpoint } from "./endpoint.ts";

credentials(rerankEndpoint);
