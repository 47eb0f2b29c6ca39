import { tooLargeBodies } from "../forwarding-suite.ts";
import { rerankEndpoint } from "./endpoint.ts";

tooLargeBodies(rerankEndpoint);
