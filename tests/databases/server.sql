BEGIN TRANSACTION;
CREATE TABLE accounts (
    id           TEXT PRIMARY KEY,              -- its name
    state        TEXT NOT NULL,
    version      INTEGER NOT NULL DEFAULT 1,
    kind         TEXT,                          -- of the limit that parked it
    parked_until TEXT,
    used         REAL,                          -- share of its window, where the agent tells
    created_at   TEXT NOT NULL,
    updated_at   TEXT NOT NULL
, used_until TEXT);
INSERT INTO "accounts" VALUES('limited','parked',1,'rate_limit','2026-11-18T04:39:59.737501Z',NULL,'2026-11-18T03:39:59.742895Z','2026-11-18T03:39:59.742895Z',NULL);
CREATE TABLE gates (
    id         TEXT PRIMARY KEY,
    plan       TEXT NOT NULL REFERENCES plans (id) ON DELETE CASCADE,
    task       TEXT REFERENCES tasks (id) ON DELETE CASCADE,
    run        TEXT REFERENCES runs (id) ON DELETE CASCADE,
    kind       TEXT NOT NULL,                   -- review, question, dependency
    category   TEXT NOT NULL DEFAULT '',        -- what it is about: choice, billing, budget, …
    text       TEXT NOT NULL,
    options    TEXT NOT NULL DEFAULT '[]',      -- JSON list
    preset     TEXT,                            -- the answer taken by default
    answer     TEXT,
    deadline   TEXT,
    state      TEXT NOT NULL,
    version    INTEGER NOT NULL DEFAULT 1,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
, about TEXT);
CREATE TABLE journal (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    at         TEXT NOT NULL,
    entity     TEXT NOT NULL,                   -- plan, task, run, park, gate, account
    entity_id  TEXT NOT NULL,
    from_state TEXT,
    to_state   TEXT NOT NULL,
    cause      TEXT NOT NULL,                   -- the trigger of the machine
    data       TEXT
);
INSERT INTO "journal" VALUES(1,'2026-11-18T03:39:59.663385Z','server_task','task_cebb67228262',NULL,'draft','open',NULL);
INSERT INTO "journal" VALUES(2,'2026-11-18T03:39:59.663385Z','server_agent','task_cebb67228262',NULL,'idle','open',NULL);
INSERT INTO "journal" VALUES(3,'2026-11-18T03:39:59.666691Z','server_task','task_06b8ce744f41',NULL,'draft','open',NULL);
INSERT INTO "journal" VALUES(4,'2026-11-18T03:39:59.666691Z','server_agent','task_06b8ce744f41',NULL,'idle','open',NULL);
INSERT INTO "journal" VALUES(5,'2026-11-18T03:39:59.666691Z','server_task','task_06b8ce744f41','draft','pending','submit',NULL);
INSERT INTO "journal" VALUES(6,'2026-11-18T03:39:59.671806Z','server_task','task_06b8ce744f41','pending','in_progress','assign','{"phase": 1}');
INSERT INTO "journal" VALUES(7,'2026-11-18T03:39:59.671806Z','server_agent','task_06b8ce744f41','idle','running','assign',NULL);
INSERT INTO "journal" VALUES(8,'2026-11-18T03:39:59.671806Z','server_run','task_06b8ce744f41-ee5308e7',NULL,'intended','start','{"task": "task_06b8ce744f41", "purpose": "work"}');
INSERT INTO "journal" VALUES(9,'2026-11-18T03:39:59.676255Z','server_task','task_76099415ec81',NULL,'draft','open',NULL);
INSERT INTO "journal" VALUES(10,'2026-11-18T03:39:59.676255Z','server_agent','task_76099415ec81',NULL,'idle','open',NULL);
INSERT INTO "journal" VALUES(11,'2026-11-18T03:39:59.676255Z','server_task','task_76099415ec81','draft','pending','submit',NULL);
INSERT INTO "journal" VALUES(12,'2026-11-18T03:39:59.679188Z','server_task','task_76099415ec81','pending','in_progress','assign','{"phase": 1}');
INSERT INTO "journal" VALUES(13,'2026-11-18T03:39:59.679188Z','server_agent','task_76099415ec81','idle','running','assign',NULL);
INSERT INTO "journal" VALUES(14,'2026-11-18T03:39:59.679188Z','server_run','task_76099415ec81-292f8a59',NULL,'intended','start','{"task": "task_76099415ec81", "purpose": "work"}');
INSERT INTO "journal" VALUES(15,'2026-11-18T03:39:59.683786Z','server_run','task_06b8ce744f41-ee5308e7','intended','running','started','{"task": "task_06b8ce744f41", "purpose": "work"}');
INSERT INTO "journal" VALUES(16,'2026-11-18T03:39:59.686292Z','server_run','task_76099415ec81-292f8a59','intended','running','started','{"task": "task_76099415ec81", "purpose": "work"}');
INSERT INTO "journal" VALUES(17,'2026-11-18T03:39:59.687414Z','server_task','task_9e4a0775d415',NULL,'draft','open',NULL);
INSERT INTO "journal" VALUES(18,'2026-11-18T03:39:59.687414Z','server_agent','task_9e4a0775d415',NULL,'idle','open',NULL);
INSERT INTO "journal" VALUES(19,'2026-11-18T03:39:59.687414Z','server_task','task_9e4a0775d415','draft','pending','submit',NULL);
INSERT INTO "journal" VALUES(20,'2026-11-18T03:39:59.691524Z','server_task','task_9e4a0775d415','pending','in_progress','assign','{"phase": 1}');
INSERT INTO "journal" VALUES(21,'2026-11-18T03:39:59.691524Z','server_agent','task_9e4a0775d415','idle','running','assign',NULL);
INSERT INTO "journal" VALUES(22,'2026-11-18T03:39:59.691524Z','server_run','task_9e4a0775d415-1c5e231d',NULL,'intended','start','{"task": "task_9e4a0775d415", "purpose": "work"}');
INSERT INTO "journal" VALUES(23,'2026-11-18T03:39:59.695872Z','server_task','task_be52852fec2f',NULL,'draft','open',NULL);
INSERT INTO "journal" VALUES(24,'2026-11-18T03:39:59.695872Z','server_agent','task_be52852fec2f',NULL,'idle','open',NULL);
INSERT INTO "journal" VALUES(25,'2026-11-18T03:39:59.695872Z','server_task','task_be52852fec2f','draft','pending','submit',NULL);
INSERT INTO "journal" VALUES(26,'2026-11-18T03:39:59.702901Z','server_task','task_be52852fec2f','pending','in_progress','assign','{"phase": 1}');
INSERT INTO "journal" VALUES(27,'2026-11-18T03:39:59.702901Z','server_agent','task_be52852fec2f','idle','running','assign',NULL);
INSERT INTO "journal" VALUES(28,'2026-11-18T03:39:59.702901Z','server_run','task_be52852fec2f-35b25800',NULL,'intended','start','{"task": "task_be52852fec2f", "purpose": "work"}');
INSERT INTO "journal" VALUES(29,'2026-11-18T03:39:59.707680Z','server_run','task_9e4a0775d415-1c5e231d','intended','running','started','{"task": "task_9e4a0775d415", "purpose": "work"}');
INSERT INTO "journal" VALUES(30,'2026-11-18T03:39:59.710492Z','server_run','task_be52852fec2f-35b25800','intended','running','started','{"task": "task_be52852fec2f", "purpose": "work"}');
INSERT INTO "journal" VALUES(31,'2026-11-18T03:39:59.715361Z','server_task','task_842a59ce21e0',NULL,'draft','open',NULL);
INSERT INTO "journal" VALUES(32,'2026-11-18T03:39:59.715361Z','server_agent','task_842a59ce21e0',NULL,'idle','open',NULL);
INSERT INTO "journal" VALUES(33,'2026-11-18T03:39:59.715361Z','server_task','task_842a59ce21e0','draft','pending','submit',NULL);
INSERT INTO "journal" VALUES(34,'2026-11-18T03:39:59.737599Z','server_run','task_76099415ec81-292f8a59','running','completed','complete','{"task": "task_76099415ec81", "purpose": "work"}');
INSERT INTO "journal" VALUES(35,'2026-11-18T03:39:59.737599Z','server_agent','task_76099415ec81','running','paused','limit','{"kind": "rate_limit", "wakes_at": "2026-11-18T04:39:59.737501Z"}');
INSERT INTO "journal" VALUES(36,'2026-11-18T03:39:59.742895Z','account','limited',NULL,'parked','park',NULL);
INSERT INTO "journal" VALUES(37,'2026-11-18T03:39:59.747451Z','server_task','task_842a59ce21e0','pending','in_progress','assign','{"phase": 1}');
INSERT INTO "journal" VALUES(38,'2026-11-18T03:39:59.747451Z','server_agent','task_842a59ce21e0','idle','running','assign',NULL);
INSERT INTO "journal" VALUES(39,'2026-11-18T03:39:59.747451Z','server_run','task_842a59ce21e0-3e31de9c',NULL,'intended','start','{"task": "task_842a59ce21e0", "purpose": "work"}');
INSERT INTO "journal" VALUES(40,'2026-11-18T03:39:59.768437Z','server_task','task_76bdea95ed51',NULL,'draft','open',NULL);
INSERT INTO "journal" VALUES(41,'2026-11-18T03:39:59.768437Z','server_agent','task_76bdea95ed51',NULL,'idle','open',NULL);
INSERT INTO "journal" VALUES(42,'2026-11-18T03:39:59.768437Z','server_task','task_76bdea95ed51','draft','pending','submit',NULL);
INSERT INTO "journal" VALUES(43,'2026-11-18T03:39:59.783748Z','server_run','task_842a59ce21e0-3e31de9c','intended','running','started','{"task": "task_842a59ce21e0", "purpose": "work"}');
INSERT INTO "journal" VALUES(44,'2026-11-18T03:39:59.793540Z','server_run','task_be52852fec2f-35b25800','running','completed','complete','{"task": "task_be52852fec2f", "purpose": "work"}');
INSERT INTO "journal" VALUES(45,'2026-11-18T03:39:59.793540Z','server_gate','rev_b9a4fba6fab5',NULL,'pending','open','{"task": "task_be52852fec2f", "kind": "review"}');
INSERT INTO "journal" VALUES(46,'2026-11-18T03:39:59.793540Z','server_task','task_be52852fec2f','in_progress','review','phase_complete','{"phase": 1, "review": "rev_b9a4fba6fab5", "deliverables": 1}');
INSERT INTO "journal" VALUES(47,'2026-11-18T03:39:59.793540Z','server_agent','task_be52852fec2f','running','waiting_review','phase_complete','{"review": "rev_b9a4fba6fab5", "deliverables": 1}');
INSERT INTO "journal" VALUES(48,'2026-11-18T03:39:59.801510Z','server_task','task_76bdea95ed51','pending','in_progress','assign','{"phase": 1}');
INSERT INTO "journal" VALUES(49,'2026-11-18T03:39:59.801510Z','server_agent','task_76bdea95ed51','idle','running','assign',NULL);
INSERT INTO "journal" VALUES(50,'2026-11-18T03:39:59.801510Z','server_run','task_76bdea95ed51-a76f875f',NULL,'intended','start','{"task": "task_76bdea95ed51", "purpose": "work"}');
INSERT INTO "journal" VALUES(51,'2026-11-18T03:39:59.814412Z','server_run','task_842a59ce21e0-3e31de9c','running','asked','ask','{"task": "task_842a59ce21e0", "purpose": "work"}');
INSERT INTO "journal" VALUES(52,'2026-11-18T03:39:59.814412Z','server_gate','q_754c9a447bb7',NULL,'pending','open','{"task": "task_842a59ce21e0", "kind": "question"}');
INSERT INTO "journal" VALUES(53,'2026-11-18T03:39:59.814412Z','server_agent','task_842a59ce21e0','running','waiting_question','question','{"question": "q_754c9a447bb7"}');
INSERT INTO "journal" VALUES(54,'2026-11-18T03:39:59.827805Z','server_task','task_1ca72a816e8b',NULL,'draft','open',NULL);
INSERT INTO "journal" VALUES(55,'2026-11-18T03:39:59.827805Z','server_agent','task_1ca72a816e8b',NULL,'idle','open',NULL);
INSERT INTO "journal" VALUES(56,'2026-11-18T03:39:59.827805Z','server_task','task_1ca72a816e8b','draft','pending','submit',NULL);
INSERT INTO "journal" VALUES(57,'2026-11-18T03:39:59.856753Z','server_run','task_76bdea95ed51-a76f875f','intended','running','started','{"task": "task_76bdea95ed51", "purpose": "work"}');
INSERT INTO "journal" VALUES(58,'2026-11-18T03:39:59.881792Z','server_task','task_1ca72a816e8b','pending','in_progress','assign','{"phase": 1}');
INSERT INTO "journal" VALUES(59,'2026-11-18T03:39:59.881792Z','server_agent','task_1ca72a816e8b','idle','running','assign',NULL);
INSERT INTO "journal" VALUES(60,'2026-11-18T03:39:59.881792Z','server_run','task_1ca72a816e8b-1ca302c0',NULL,'intended','start','{"task": "task_1ca72a816e8b", "purpose": "work"}');
INSERT INTO "journal" VALUES(61,'2026-11-18T03:39:59.911518Z','server_run','task_76bdea95ed51-a76f875f','running','asked','ask','{"task": "task_76bdea95ed51", "purpose": "work"}');
INSERT INTO "journal" VALUES(62,'2026-11-18T03:39:59.911518Z','server_gate','dep_ff70f52a5f2e',NULL,'pending','open','{"task": "task_76bdea95ed51", "kind": "dependency"}');
INSERT INTO "journal" VALUES(63,'2026-11-18T03:39:59.911518Z','server_agent','task_76bdea95ed51','running','waiting_dependency','dependency_request','{"dependency": "dep_ff70f52a5f2e"}');
INSERT INTO "journal" VALUES(64,'2026-11-18T03:39:59.923583Z','server_task','task_03fd4b8e15df',NULL,'draft','open',NULL);
INSERT INTO "journal" VALUES(65,'2026-11-18T03:39:59.923583Z','server_agent','task_03fd4b8e15df',NULL,'idle','open',NULL);
INSERT INTO "journal" VALUES(66,'2026-11-18T03:39:59.923583Z','server_task','task_03fd4b8e15df','draft','pending','submit',NULL);
INSERT INTO "journal" VALUES(67,'2026-11-18T03:39:59.926221Z','server_run','task_1ca72a816e8b-1ca302c0','intended','running','started','{"task": "task_1ca72a816e8b", "purpose": "work"}');
INSERT INTO "journal" VALUES(68,'2026-11-18T03:39:59.934405Z','server_task','task_03fd4b8e15df','pending','in_progress','assign','{"phase": 1}');
INSERT INTO "journal" VALUES(69,'2026-11-18T03:39:59.934405Z','server_agent','task_03fd4b8e15df','idle','running','assign',NULL);
INSERT INTO "journal" VALUES(70,'2026-11-18T03:39:59.934405Z','server_run','task_03fd4b8e15df-41cf2980',NULL,'intended','start','{"task": "task_03fd4b8e15df", "purpose": "work"}');
INSERT INTO "journal" VALUES(71,'2026-11-18T03:39:59.961241Z','server_run','task_1ca72a816e8b-1ca302c0','running','asked','ask','{"task": "task_1ca72a816e8b", "purpose": "work"}');
INSERT INTO "journal" VALUES(72,'2026-11-18T03:39:59.961241Z','server_gate','dep_8d926ee1cc7a',NULL,'pending','open','{"task": "task_1ca72a816e8b", "kind": "dependency"}');
INSERT INTO "journal" VALUES(73,'2026-11-18T03:39:59.961241Z','server_agent','task_1ca72a816e8b','running','waiting_dependency','dependency_request','{"dependency": "dep_8d926ee1cc7a"}');
INSERT INTO "journal" VALUES(74,'2026-11-18T03:39:59.965601Z','server_run','task_03fd4b8e15df-41cf2980','intended','running','started','{"task": "task_03fd4b8e15df", "purpose": "work"}');
INSERT INTO "journal" VALUES(75,'2026-11-18T03:39:59.970030Z','server_task','task_e97ebf9a1a72',NULL,'draft','open',NULL);
INSERT INTO "journal" VALUES(76,'2026-11-18T03:39:59.970030Z','server_agent','task_e97ebf9a1a72',NULL,'idle','open',NULL);
INSERT INTO "journal" VALUES(77,'2026-11-18T03:39:59.970030Z','server_task','task_e97ebf9a1a72','draft','pending','submit',NULL);
INSERT INTO "journal" VALUES(78,'2026-11-18T03:39:59.981899Z','server_run','task_03fd4b8e15df-41cf2980','running','completed','complete','{"task": "task_03fd4b8e15df", "purpose": "work"}');
INSERT INTO "journal" VALUES(79,'2026-11-18T03:39:59.981899Z','server_task','task_03fd4b8e15df','in_progress','failed','fail','{"phase": 1, "error": "it cannot be done"}');
INSERT INTO "journal" VALUES(80,'2026-11-18T03:39:59.981899Z','server_agent','task_03fd4b8e15df','running','failed','fail',NULL);
INSERT INTO "journal" VALUES(81,'2026-11-18T03:39:59.984454Z','server_task','task_7056d3aea55a',NULL,'draft','open',NULL);
INSERT INTO "journal" VALUES(82,'2026-11-18T03:39:59.984454Z','server_agent','task_7056d3aea55a',NULL,'idle','open',NULL);
INSERT INTO "journal" VALUES(83,'2026-11-18T03:39:59.984454Z','server_task','task_7056d3aea55a','draft','pending','submit',NULL);
INSERT INTO "journal" VALUES(84,'2026-11-18T03:39:59.992027Z','server_task','task_7056d3aea55a','pending','in_progress','assign','{"phase": 1}');
INSERT INTO "journal" VALUES(85,'2026-11-18T03:39:59.992027Z','server_agent','task_7056d3aea55a','idle','running','assign',NULL);
INSERT INTO "journal" VALUES(86,'2026-11-18T03:39:59.992027Z','server_run','task_7056d3aea55a-11653212',NULL,'intended','start','{"task": "task_7056d3aea55a", "purpose": "work"}');
INSERT INTO "journal" VALUES(87,'2026-11-18T03:40:00.001511Z','server_task','task_483b3c56c9dd',NULL,'draft','open',NULL);
INSERT INTO "journal" VALUES(88,'2026-11-18T03:40:00.001511Z','server_agent','task_483b3c56c9dd',NULL,'idle','open',NULL);
INSERT INTO "journal" VALUES(89,'2026-11-18T03:40:00.001511Z','server_task','task_483b3c56c9dd','draft','pending','submit',NULL);
INSERT INTO "journal" VALUES(90,'2026-11-18T03:40:00.004239Z','server_run','task_7056d3aea55a-11653212','intended','running','started','{"task": "task_7056d3aea55a", "purpose": "work"}');
INSERT INTO "journal" VALUES(91,'2026-11-18T03:40:00.005632Z','server_task','task_483b3c56c9dd','pending','in_progress','assign','{"phase": 1}');
INSERT INTO "journal" VALUES(92,'2026-11-18T03:40:00.005632Z','server_agent','task_483b3c56c9dd','idle','running','assign',NULL);
INSERT INTO "journal" VALUES(93,'2026-11-18T03:40:00.005632Z','server_run','task_483b3c56c9dd-fbd31be1',NULL,'intended','start','{"task": "task_483b3c56c9dd", "purpose": "work"}');
INSERT INTO "journal" VALUES(94,'2026-11-18T03:40:00.009820Z','server_task','task_eca232a08b85',NULL,'draft','open',NULL);
INSERT INTO "journal" VALUES(95,'2026-11-18T03:40:00.009820Z','server_agent','task_eca232a08b85',NULL,'idle','open',NULL);
INSERT INTO "journal" VALUES(96,'2026-11-18T03:40:00.009820Z','server_task','task_eca232a08b85','draft','pending','submit',NULL);
INSERT INTO "journal" VALUES(97,'2026-11-18T03:40:00.025305Z','server_task','task_eca232a08b85','pending','in_progress','assign','{"phase": 1}');
INSERT INTO "journal" VALUES(98,'2026-11-18T03:40:00.025305Z','server_agent','task_eca232a08b85','idle','running','assign',NULL);
INSERT INTO "journal" VALUES(99,'2026-11-18T03:40:00.025305Z','server_run','task_eca232a08b85-4e565543',NULL,'intended','start','{"task": "task_eca232a08b85", "purpose": "work"}');
INSERT INTO "journal" VALUES(100,'2026-11-18T03:40:00.045348Z','server_run','task_483b3c56c9dd-fbd31be1','intended','running','started','{"task": "task_483b3c56c9dd", "purpose": "work"}');
INSERT INTO "journal" VALUES(101,'2026-11-18T03:40:00.050284Z','server_task','task_4e4803987475',NULL,'draft','open',NULL);
INSERT INTO "journal" VALUES(102,'2026-11-18T03:40:00.050284Z','server_agent','task_4e4803987475',NULL,'idle','open',NULL);
INSERT INTO "journal" VALUES(103,'2026-11-18T03:40:00.062904Z','server_run','task_483b3c56c9dd-fbd31be1','running','completed','complete','{"task": "task_483b3c56c9dd", "purpose": "work"}');
INSERT INTO "journal" VALUES(104,'2026-11-18T03:40:00.062904Z','server_gate','rev_877c0a6565f1',NULL,'pending','open','{"task": "task_483b3c56c9dd", "kind": "review"}');
INSERT INTO "journal" VALUES(105,'2026-11-18T03:40:00.062904Z','server_task','task_483b3c56c9dd','in_progress','review','phase_complete','{"phase": 1, "review": "rev_877c0a6565f1", "deliverables": 1}');
INSERT INTO "journal" VALUES(106,'2026-11-18T03:40:00.062904Z','server_agent','task_483b3c56c9dd','running','waiting_review','phase_complete','{"review": "rev_877c0a6565f1", "deliverables": 1}');
INSERT INTO "journal" VALUES(107,'2026-11-18T03:40:00.070867Z','server_run','task_eca232a08b85-4e565543','intended','running','started','{"task": "task_eca232a08b85", "purpose": "work"}');
INSERT INTO "journal" VALUES(108,'2026-11-18T03:40:00.088699Z','server_run','task_eca232a08b85-4e565543','running','completed','complete','{"task": "task_eca232a08b85", "purpose": "work"}');
INSERT INTO "journal" VALUES(109,'2026-11-18T03:40:00.088699Z','server_gate','rev_68185aeab024',NULL,'pending','open','{"task": "task_eca232a08b85", "kind": "review"}');
INSERT INTO "journal" VALUES(110,'2026-11-18T03:40:00.088699Z','server_task','task_eca232a08b85','in_progress','review','phase_complete','{"phase": 1, "review": "rev_68185aeab024", "deliverables": 1}');
INSERT INTO "journal" VALUES(111,'2026-11-18T03:40:00.088699Z','server_agent','task_eca232a08b85','running','waiting_review','phase_complete','{"review": "rev_68185aeab024", "deliverables": 1}');
INSERT INTO "journal" VALUES(112,'2026-11-18T03:40:00.104969Z','server_agent','task_9e4a0775d415','running','paused','pause',NULL);
INSERT INTO "journal" VALUES(113,'2026-11-18T03:40:00.224234Z','server_gate','dep_8d926ee1cc7a','pending','provided','provide','{"task": "task_1ca72a816e8b", "kind": "dependency"}');
INSERT INTO "journal" VALUES(114,'2026-11-18T03:40:00.224234Z','server_agent','task_1ca72a816e8b','waiting_dependency','running','provide','{"dependency": "dep_8d926ee1cc7a", "name": "STRIPE_KEY"}');
INSERT INTO "journal" VALUES(115,'2026-11-18T03:40:00.224234Z','server_run','task_1ca72a816e8b-0b4c6492',NULL,'intended','start','{"task": "task_1ca72a816e8b", "purpose": "work"}');
INSERT INTO "journal" VALUES(116,'2026-11-18T03:40:00.233896Z','server_run','task_1ca72a816e8b-0b4c6492','intended','running','started','{"task": "task_1ca72a816e8b", "purpose": "work"}');
INSERT INTO "journal" VALUES(117,'2026-11-18T03:40:00.262895Z','server_run','task_1ca72a816e8b-0b4c6492','running','completed','complete','{"task": "task_1ca72a816e8b", "purpose": "work"}');
INSERT INTO "journal" VALUES(118,'2026-11-18T03:40:00.262895Z','server_gate','rev_5aa011a36992',NULL,'pending','open','{"task": "task_1ca72a816e8b", "kind": "review"}');
INSERT INTO "journal" VALUES(119,'2026-11-18T03:40:00.262895Z','server_task','task_1ca72a816e8b','in_progress','review','phase_complete','{"phase": 1, "review": "rev_5aa011a36992", "deliverables": 1}');
INSERT INTO "journal" VALUES(120,'2026-11-18T03:40:00.262895Z','server_agent','task_1ca72a816e8b','running','waiting_review','phase_complete','{"review": "rev_5aa011a36992", "deliverables": 1}');
INSERT INTO "journal" VALUES(121,'2026-11-18T03:40:00.290287Z','server_task','task_7056d3aea55a','in_progress','failed','cancel','{"phase": 1, "reason": null}');
INSERT INTO "journal" VALUES(122,'2026-11-18T03:40:00.290287Z','server_agent','task_7056d3aea55a','running','failed','cancel',NULL);
INSERT INTO "journal" VALUES(123,'2026-11-18T03:40:00.290287Z','server_run','task_7056d3aea55a-11653212','running','cut_off','cut_off','{"task": "task_7056d3aea55a", "purpose": "work"}');
INSERT INTO "journal" VALUES(124,'2026-11-18T03:40:00.307959Z','server_gate','rev_877c0a6565f1','pending','approved','approve','{"task": "task_483b3c56c9dd", "kind": "review"}');
INSERT INTO "journal" VALUES(125,'2026-11-18T03:40:00.307959Z','server_task','task_483b3c56c9dd','review','in_progress','approve','{"phase": 1, "review": "rev_877c0a6565f1"}');
INSERT INTO "journal" VALUES(126,'2026-11-18T03:40:00.307959Z','server_agent','task_483b3c56c9dd','waiting_review','running','approve','{"review": "rev_877c0a6565f1"}');
INSERT INTO "journal" VALUES(127,'2026-11-18T03:40:00.307959Z','server_run','task_483b3c56c9dd-48a4f6fd',NULL,'intended','start','{"task": "task_483b3c56c9dd", "purpose": "work"}');
INSERT INTO "journal" VALUES(128,'2026-11-18T03:40:00.312593Z','server_run','task_483b3c56c9dd-48a4f6fd','intended','running','started','{"task": "task_483b3c56c9dd", "purpose": "work"}');
INSERT INTO "journal" VALUES(129,'2026-11-18T03:40:00.337068Z','server_run','task_483b3c56c9dd-48a4f6fd','running','failed','fail','{"task": "task_483b3c56c9dd", "purpose": "work"}');
INSERT INTO "journal" VALUES(130,'2026-11-18T03:40:00.342947Z','server_run','task_483b3c56c9dd-0cfa2fd5',NULL,'intended','start','{"task": "task_483b3c56c9dd", "purpose": "work"}');
INSERT INTO "journal" VALUES(131,'2026-11-18T03:40:00.355952Z','server_gate','rev_68185aeab024','pending','approved','approve','{"task": "task_eca232a08b85", "kind": "review"}');
INSERT INTO "journal" VALUES(132,'2026-11-18T03:40:00.355952Z','server_task','task_eca232a08b85','review','completed','approve','{"phase": 1}');
INSERT INTO "journal" VALUES(133,'2026-11-18T03:40:00.355952Z','server_agent','task_eca232a08b85','waiting_review','completed','approve',NULL);
INSERT INTO "journal" VALUES(134,'2026-11-18T03:40:00.364071Z','server_run','task_483b3c56c9dd-0cfa2fd5','intended','running','started','{"task": "task_483b3c56c9dd", "purpose": "work"}');
INSERT INTO "journal" VALUES(135,'2026-11-18T03:40:00.380143Z','server_run','task_483b3c56c9dd-0cfa2fd5','running','failed','fail','{"task": "task_483b3c56c9dd", "purpose": "work"}');
INSERT INTO "journal" VALUES(136,'2026-11-18T03:40:00.381310Z','server_task','task_483b3c56c9dd','in_progress','failed','fail','{"phase": 2, "error": "it reported phase 1 complete, which is not the current one: not counted: === PHASE 1 COMPLETE afba91 ==="}');
INSERT INTO "journal" VALUES(137,'2026-11-18T03:40:00.381310Z','server_agent','task_483b3c56c9dd','running','failed','fail',NULL);
INSERT INTO "journal" VALUES(138,'2026-11-18T03:40:00.502956Z','server_task','task_f04c70a3fc8b',NULL,'draft','open','{"forked_from": "task_be52852fec2f", "checkpoint": "cp_72217c45087c"}');
INSERT INTO "journal" VALUES(139,'2026-11-18T03:40:00.502956Z','server_agent','task_f04c70a3fc8b',NULL,'idle','open',NULL);
INSERT INTO "journal" VALUES(140,'2026-11-18T03:40:00.502956Z','server_task','task_f04c70a3fc8b','draft','pending','submit',NULL);
INSERT INTO "journal" VALUES(141,'2026-11-18T03:40:00.511797Z','server_task','task_f04c70a3fc8b','pending','in_progress','assign','{"phase": 1}');
INSERT INTO "journal" VALUES(142,'2026-11-18T03:40:00.511797Z','server_agent','task_f04c70a3fc8b','idle','running','assign',NULL);
INSERT INTO "journal" VALUES(143,'2026-11-18T03:40:00.511797Z','server_run','task_f04c70a3fc8b-d7de2396',NULL,'intended','start','{"task": "task_f04c70a3fc8b", "purpose": "work"}');
INSERT INTO "journal" VALUES(144,'2026-11-18T03:40:00.530977Z','server_task','task_bb6f7a95932d',NULL,'draft','open',NULL);
INSERT INTO "journal" VALUES(145,'2026-11-18T03:40:00.530977Z','server_agent','task_bb6f7a95932d',NULL,'idle','open',NULL);
INSERT INTO "journal" VALUES(146,'2026-11-18T03:40:00.531802Z','server_run','task_f04c70a3fc8b-d7de2396','intended','running','started','{"task": "task_f04c70a3fc8b", "purpose": "work"}');
INSERT INTO "journal" VALUES(147,'2026-11-18T03:40:00.554897Z','server_run','task_f04c70a3fc8b-d7de2396','running','completed','complete','{"task": "task_f04c70a3fc8b", "purpose": "work"}');
INSERT INTO "journal" VALUES(148,'2026-11-18T03:40:00.554897Z','server_gate','rev_c51006316554',NULL,'pending','open','{"task": "task_f04c70a3fc8b", "kind": "review"}');
INSERT INTO "journal" VALUES(149,'2026-11-18T03:40:00.554897Z','server_task','task_f04c70a3fc8b','in_progress','review','phase_complete','{"phase": 1, "review": "rev_c51006316554", "deliverables": 1}');
INSERT INTO "journal" VALUES(150,'2026-11-18T03:40:00.554897Z','server_agent','task_f04c70a3fc8b','running','waiting_review','phase_complete','{"review": "rev_c51006316554", "deliverables": 1}');
CREATE TABLE notices (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    work       TEXT NOT NULL,                   -- the plan, or 'watch'
    about      TEXT NOT NULL,                   -- what happened, so that it is told once
    kind       TEXT NOT NULL,                   -- question, review, escalated, failed, error, completed, …
    task       TEXT NOT NULL DEFAULT '',
    title      TEXT NOT NULL,
    gate       TEXT,
    text       TEXT NOT NULL,
    place      TEXT NOT NULL,                   -- where somebody can see to it
    sent       TEXT NOT NULL DEFAULT '[]',      -- which ways it has gone (JSON)
    tries      INTEGER NOT NULL DEFAULT 0,
    next_at    TEXT,                            -- none: done, or given up
    created_at TEXT NOT NULL,
    UNIQUE (work, about)
);
CREATE TABLE parks (
    id         TEXT PRIMARY KEY,
    plan       TEXT NOT NULL REFERENCES plans (id) ON DELETE CASCADE,
    task       TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    run        TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    account    TEXT NOT NULL,
    kind       TEXT NOT NULL,
    resets_at  TEXT,
    wakes_at   TEXT NOT NULL,
    state      TEXT NOT NULL,
    version    INTEGER NOT NULL DEFAULT 1,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);
CREATE TABLE plans (
    id          TEXT PRIMARY KEY,
    path        TEXT NOT NULL UNIQUE,           -- real path of the plan file
    kind        TEXT NOT NULL,                  -- tasklist, book, develop, server
    state       TEXT NOT NULL,
    version     INTEGER NOT NULL DEFAULT 1,
    options     TEXT NOT NULL DEFAULT '{}',     -- how it was last started (JSON)
    windows     INTEGER NOT NULL DEFAULT 0,     -- limit windows it has waited through
    created_at  TEXT NOT NULL,
    updated_at  TEXT NOT NULL
, held TEXT);
CREATE TABLE runs (
    id           TEXT PRIMARY KEY,
    plan         TEXT NOT NULL REFERENCES plans (id) ON DELETE CASCADE,
    task         TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    attempt      INTEGER NOT NULL,
    agent        TEXT NOT NULL,
    account      TEXT NOT NULL,
    state        TEXT NOT NULL,
    version      INTEGER NOT NULL DEFAULT 1,
    conversation TEXT NOT NULL,
    nonce        TEXT NOT NULL,
    resumes      TEXT,                          -- the run whose conversation it goes on with
    verify_job   TEXT,                          -- the check of its work, while it is verifying
    keeper       INTEGER,                       -- process that holds the agent, and its start time
    keeper_started INTEGER,
    branch       TEXT,                          -- with --isolate worktree
    exit_code    INTEGER,
    error        TEXT,
    input_tokens  INTEGER,
    output_tokens INTEGER,
    cost_usd      REAL,
    created_at   TEXT NOT NULL,
    updated_at   TEXT NOT NULL
, resume_id TEXT, purpose TEXT NOT NULL DEFAULT '', answer TEXT);
CREATE TABLE server_agents (
    id           TEXT PRIMARY KEY REFERENCES server_tasks (id) ON DELETE CASCADE,
    state        TEXT NOT NULL,
    version      INTEGER NOT NULL DEFAULT 1,
    step         TEXT,                          -- what it is at, in a few words
    conversation TEXT NOT NULL DEFAULT '',      -- ours, the same over all resumptions
    resume_id    TEXT,                          -- what its program calls it
    account      TEXT NOT NULL DEFAULT '',
    kind         TEXT,                          -- of the limit that paused it
    resets_at    TEXT,
    is_by_person INTEGER NOT NULL DEFAULT 0,    -- paused by a person: stays so over a restart
    saved_at     TEXT,                          -- its last checkpoint
    created_at   TEXT NOT NULL,
    updated_at   TEXT NOT NULL
, steps_done INTEGER NOT NULL DEFAULT 0, steps_total INTEGER);
INSERT INTO "server_agents" VALUES('task_cebb67228262','idle',1,NULL,'',NULL,'',NULL,NULL,0,NULL,'2026-11-18T03:39:59.663385Z','2026-11-18T03:39:59.663385Z',0,NULL);
INSERT INTO "server_agents" VALUES('task_06b8ce744f41','running',2,NULL,'d43f579f0ecd5072',NULL,'works',NULL,NULL,0,NULL,'2026-11-18T03:39:59.666691Z','2026-11-18T03:39:59.671806Z',0,NULL);
INSERT INTO "server_agents" VALUES('task_76099415ec81','paused',3,NULL,'0843e437ec8603f8',NULL,'limited','rate_limit','2026-11-18T04:39:59.737501Z',0,'2026-11-18T03:39:59.954681Z','2026-11-18T03:39:59.676255Z','2026-11-18T03:39:59.737599Z',0,NULL);
INSERT INTO "server_agents" VALUES('task_9e4a0775d415','paused',3,NULL,'a740dcf02b3c38cf',NULL,'works',NULL,NULL,1,'2026-11-18T03:40:00.163015Z','2026-11-18T03:39:59.687414Z','2026-11-18T03:40:00.104969Z',0,NULL);
INSERT INTO "server_agents" VALUES('task_be52852fec2f','waiting_review',3,NULL,'5cbffae4b8a96069',NULL,'good',NULL,NULL,0,'2026-11-18T03:39:59.974564Z','2026-11-18T03:39:59.695872Z','2026-11-18T03:39:59.793540Z',0,NULL);
INSERT INTO "server_agents" VALUES('task_842a59ce21e0','waiting_question',3,NULL,'cd94cfef7a938b7e',NULL,'asks',NULL,NULL,0,'2026-11-18T03:39:59.972990Z','2026-11-18T03:39:59.715361Z','2026-11-18T03:39:59.814412Z',0,NULL);
INSERT INTO "server_agents" VALUES('task_76bdea95ed51','waiting_dependency',3,NULL,'d725768138318d43',NULL,'needs',NULL,NULL,0,'2026-11-18T03:39:59.988835Z','2026-11-18T03:39:59.768437Z','2026-11-18T03:39:59.911518Z',0,NULL);
INSERT INTO "server_agents" VALUES('task_1ca72a816e8b','waiting_review',5,NULL,'569df33afaa2dcaf',NULL,'needs',NULL,NULL,0,'2026-11-18T03:40:00.317863Z','2026-11-18T03:39:59.827805Z','2026-11-18T03:40:00.262895Z',0,NULL);
INSERT INTO "server_agents" VALUES('task_03fd4b8e15df','failed',3,NULL,'ce8a205590301561',NULL,'fails',NULL,NULL,0,'2026-11-18T03:40:00.051452Z','2026-11-18T03:39:59.923583Z','2026-11-18T03:39:59.981899Z',0,NULL);
INSERT INTO "server_agents" VALUES('task_e97ebf9a1a72','idle',1,NULL,'',NULL,'',NULL,NULL,0,NULL,'2026-11-18T03:39:59.970030Z','2026-11-18T03:39:59.970030Z',0,NULL);
INSERT INTO "server_agents" VALUES('task_7056d3aea55a','failed',3,NULL,'716091717b622f06',NULL,'works',NULL,NULL,0,'2026-11-18T03:40:00.367946Z','2026-11-18T03:39:59.984454Z','2026-11-18T03:40:00.290287Z',0,NULL);
INSERT INTO "server_agents" VALUES('task_483b3c56c9dd','failed',5,NULL,'d550aee9c25a044f',NULL,'good',NULL,NULL,0,'2026-11-18T03:40:00.518294Z','2026-11-18T03:40:00.001511Z','2026-11-18T03:40:00.381310Z',0,NULL);
INSERT INTO "server_agents" VALUES('task_eca232a08b85','completed',4,NULL,'b8024bd48c9ee4ea',NULL,'good',NULL,NULL,0,'2026-11-18T03:40:00.410412Z','2026-11-18T03:40:00.009820Z','2026-11-18T03:40:00.355952Z',0,NULL);
INSERT INTO "server_agents" VALUES('task_4e4803987475','idle',1,NULL,'',NULL,'',NULL,NULL,0,NULL,'2026-11-18T03:40:00.050284Z','2026-11-18T03:40:00.050284Z',0,NULL);
INSERT INTO "server_agents" VALUES('task_f04c70a3fc8b','waiting_review',3,NULL,'bc2d4d7810d515c3',NULL,'good',NULL,NULL,0,'2026-11-18T03:40:00.610916Z','2026-11-18T03:40:00.502956Z','2026-11-18T03:40:00.554897Z',0,NULL);
INSERT INTO "server_agents" VALUES('task_bb6f7a95932d','idle',1,NULL,'',NULL,'',NULL,NULL,0,NULL,'2026-11-18T03:40:00.530977Z','2026-11-18T03:40:00.530977Z',0,NULL);
CREATE TABLE server_checkpoints (
    id         TEXT PRIMARY KEY,
    task       TEXT NOT NULL REFERENCES server_tasks (id) ON DELETE CASCADE,
    kind       TEXT NOT NULL,                   -- phase, review, question, dependency, pause, limit, timer, final
    phase      INTEGER,
    path       TEXT NOT NULL,                   -- from the data folder
    sha256     TEXT NOT NULL,
    created_at TEXT NOT NULL
);
INSERT INTO "server_checkpoints" VALUES('cp_f3ca83c7d5e8','task_76099415ec81','limit',1,'checkpoints/task_76099415ec81/a15bc7e56eddfa3f.json','e4943fd27b57eb56e29c377d137232079b33cbfbacb9906be220b27947535a0d','2026-11-18T03:39:59.954681Z');
INSERT INTO "server_checkpoints" VALUES('cp_e1437e69fc54','task_842a59ce21e0','question',1,'checkpoints/task_842a59ce21e0/d5e49d041ed82a6d.json','a1c9ab80a5ea294028b1d026f9603b7efde85765425a1efca58df48e18d11012','2026-11-18T03:39:59.972990Z');
INSERT INTO "server_checkpoints" VALUES('cp_72217c45087c','task_be52852fec2f','phase',1,'checkpoints/task_be52852fec2f/891d10909901226e.json','3c0d353be446bb4a6282ff910f3168268d2506e106c16f18fa71f5c9ba7301b1','2026-11-18T03:39:59.974564Z');
INSERT INTO "server_checkpoints" VALUES('cp_8d5f8c21db64','task_76bdea95ed51','dependency',1,'checkpoints/task_76bdea95ed51/41f2c8ec29a86a81.json','a1a6538c6b1b76b471164a6348d4717d362c7a922ea31a278bc5812fa60e589f','2026-11-18T03:39:59.988835Z');
INSERT INTO "server_checkpoints" VALUES('cp_79c5657d9ab8','task_1ca72a816e8b','dependency',1,'checkpoints/task_1ca72a816e8b/724519c620a8c8a9.json','edee3e34f9b586281eb18af53897158c61ac65676ad34803cfb04d49f5225f44','2026-11-18T03:40:00.039288Z');
INSERT INTO "server_checkpoints" VALUES('cp_59c03e8194aa','task_03fd4b8e15df','final',1,'checkpoints/task_03fd4b8e15df/636e75a6dc2576d5.json','44c25c5e0d8f037f2f29a4059867bbce0bc981c5ed1a6057ff493387ad63c4c7','2026-11-18T03:40:00.051452Z');
INSERT INTO "server_checkpoints" VALUES('cp_84026b1b284f','task_483b3c56c9dd','phase',1,'checkpoints/task_483b3c56c9dd/046ddbe24987f700.json','445a9b9ef4809f546f91a0d5a9e38b4b2b36506f022e9a4c8da554a55e17399a','2026-11-18T03:40:00.143032Z');
INSERT INTO "server_checkpoints" VALUES('cp_227348fbc215','task_9e4a0775d415','pause',1,'checkpoints/task_9e4a0775d415/6191746cdf8b1d90.json','310d6e4684c52c1379ba1290eeaf5208011521e2f0b87797829558e57fc432e7','2026-11-18T03:40:00.163015Z');
INSERT INTO "server_checkpoints" VALUES('cp_b5afb08527fa','task_eca232a08b85','phase',1,'checkpoints/task_eca232a08b85/30f0def190192dbf.json','c0288a3b2c4440a676e8538e74d2bd65879837ab39b9b6cac17beb31a7108047','2026-11-18T03:40:00.165010Z');
INSERT INTO "server_checkpoints" VALUES('cp_c3b29ceab96a','task_1ca72a816e8b','phase',1,'checkpoints/task_1ca72a816e8b/42d761f861e4541b.json','c905b8be04cd0edab8f3110eaeac79eefe4807c03369907fe27e061ef2d632c7','2026-11-18T03:40:00.317863Z');
INSERT INTO "server_checkpoints" VALUES('cp_ef56bb6d5785','task_7056d3aea55a','final',1,'checkpoints/task_7056d3aea55a/5b4410e5f0c98659.json','9c44a3cd6e6b2623c0a6f9997921cb5bf0aff78071d80270e1fd4d2c7ee25e0c','2026-11-18T03:40:00.367946Z');
INSERT INTO "server_checkpoints" VALUES('cp_4bdf3f0fa436','task_eca232a08b85','final',1,'checkpoints/task_eca232a08b85/3049cbdbc39475c1.json','31ab0161da3d7b068b7db8beb8a5c667c5364da9e1079b116d19b4e6a85b5710','2026-11-18T03:40:00.410412Z');
INSERT INTO "server_checkpoints" VALUES('cp_2fedcaa5dc0a','task_483b3c56c9dd','final',2,'checkpoints/task_483b3c56c9dd/0b382fda506cf033.json','a4f952b0edef3f68fdffd96e32b77d8e7c525f024e0307f14bbf65fe676a7b72','2026-11-18T03:40:00.518294Z');
INSERT INTO "server_checkpoints" VALUES('cp_5e9b8ae2f071','task_f04c70a3fc8b','phase',1,'checkpoints/task_f04c70a3fc8b/2be86c5305dabb3b.json','6783fdd20fbfa9f153d3409377c5079073d49a9e0701e12ca5e7d8cb429d7ccf','2026-11-18T03:40:00.610916Z');
CREATE TABLE server_gates (
    id         TEXT PRIMARY KEY,
    task       TEXT NOT NULL REFERENCES server_tasks (id) ON DELETE CASCADE,
    run        TEXT,
    kind       TEXT NOT NULL,                   -- review, question, dependency
    phase      INTEGER,
    round      INTEGER NOT NULL DEFAULT 1,      -- of a review: after each rework one more
    category   TEXT NOT NULL DEFAULT '',        -- of a question; the type of a dependency
    name       TEXT NOT NULL DEFAULT '',        -- of a dependency: the variable
    text       TEXT NOT NULL DEFAULT '',        -- the question, the description
    options    TEXT NOT NULL DEFAULT '[]',
    preset     TEXT,
    is_required INTEGER NOT NULL DEFAULT 1,
    priority   INTEGER NOT NULL DEFAULT 0,
    deadline   TEXT,
    about      TEXT NOT NULL DEFAULT '{}',      -- a review's deliverables and its verification
    answer     TEXT,                            -- never a provided value
    state      TEXT NOT NULL,
    version    INTEGER NOT NULL DEFAULT 1,
    settled_at TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);
INSERT INTO "server_gates" VALUES('rev_b9a4fba6fab5','task_be52852fec2f',NULL,'review',1,1,'','','p1','[]',NULL,1,0,NULL,'{"deliverables": [{"path": "one.md", "size": 38, "sha256": "9b40b48d21201c28f206456957fef2716ce048de834394b24891699abc61c102"}], "verification": {}, "reworks": 0}',NULL,'pending',1,NULL,'2026-11-18T03:39:59.793540Z','2026-11-18T03:39:59.793540Z');
INSERT INTO "server_gates" VALUES('q_754c9a447bb7','task_842a59ce21e0',NULL,'question',1,1,'choice','','Which database?','["PostgreSQL", "SQLite"]','SQLite',1,0,NULL,'{}',NULL,'pending',1,NULL,'2026-11-18T03:39:59.814412Z','2026-11-18T03:39:59.814412Z');
INSERT INTO "server_gates" VALUES('dep_ff70f52a5f2e','task_76bdea95ed51',NULL,'dependency',1,1,'api_key','STRIPE_KEY','for payments','[]',NULL,1,0,NULL,'{}',NULL,'pending',1,NULL,'2026-11-18T03:39:59.911518Z','2026-11-18T03:39:59.911518Z');
INSERT INTO "server_gates" VALUES('dep_8d926ee1cc7a','task_1ca72a816e8b',NULL,'dependency',1,1,'api_key','STRIPE_KEY','for payments','[]',NULL,1,0,NULL,'{}',NULL,'provided',2,'2026-11-18T03:40:00.223953Z','2026-11-18T03:39:59.961241Z','2026-11-18T03:40:00.224234Z');
INSERT INTO "server_gates" VALUES('rev_877c0a6565f1','task_483b3c56c9dd',NULL,'review',1,1,'','','p1','[]',NULL,1,0,NULL,'{"deliverables": [{"path": "one.md", "size": 38, "sha256": "9b40b48d21201c28f206456957fef2716ce048de834394b24891699abc61c102"}], "verification": {}, "reworks": 0}',NULL,'approved',2,'2026-11-18T03:40:00.307821Z','2026-11-18T03:40:00.062904Z','2026-11-18T03:40:00.307959Z');
INSERT INTO "server_gates" VALUES('rev_68185aeab024','task_eca232a08b85',NULL,'review',1,1,'','','p1','[]',NULL,1,0,NULL,'{"deliverables": [{"path": "one.md", "size": 38, "sha256": "9b40b48d21201c28f206456957fef2716ce048de834394b24891699abc61c102"}], "verification": {}, "reworks": 0}',NULL,'approved',2,'2026-11-18T03:40:00.355899Z','2026-11-18T03:40:00.088699Z','2026-11-18T03:40:00.355952Z');
INSERT INTO "server_gates" VALUES('rev_5aa011a36992','task_1ca72a816e8b',NULL,'review',1,1,'','','p1','[]',NULL,1,0,NULL,'{"deliverables": [{"path": "one.md", "size": 38, "sha256": "9bed0f4db3ed1066fe48f9d1a7fce39454ab306c842962e72ca6ca3798cc6910"}], "verification": {}, "reworks": 0}',NULL,'pending',1,NULL,'2026-11-18T03:40:00.262895Z','2026-11-18T03:40:00.262895Z');
INSERT INTO "server_gates" VALUES('rev_c51006316554','task_f04c70a3fc8b',NULL,'review',1,1,'','','p1','[]',NULL,1,0,NULL,'{"deliverables": [{"path": "one.md", "size": 38, "sha256": "9b40b48d21201c28f206456957fef2716ce048de834394b24891699abc61c102"}], "verification": {}, "reworks": 0}',NULL,'pending',1,NULL,'2026-11-18T03:40:00.554897Z','2026-11-18T03:40:00.554897Z');
CREATE TABLE server_notices (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    task       TEXT NOT NULL,
    kind       TEXT NOT NULL,                   -- review, question, dependency, completed, failed, …
    gate       TEXT,
    text       TEXT NOT NULL,
    sent       TEXT NOT NULL DEFAULT '[]',      -- which ways it has gone (JSON)
    tries      INTEGER NOT NULL DEFAULT 0,
    next_at    TEXT,                            -- none: done, or given up
    created_at TEXT NOT NULL
);
INSERT INTO "server_notices" VALUES(1,'task_76099415ec81','limit',NULL,'it waits for a limit (429, try again in 3600 seconds) and goes on by itself at 2026-11-18 04:39','[]',1,'2026-11-18T03:40:09.901577Z','2026-11-18T03:39:59.737536Z');
INSERT INTO "server_notices" VALUES(2,'task_be52852fec2f','review','rev_b9a4fba6fab5','in review: p1','[]',1,'2026-11-18T03:40:09.985129Z','2026-11-18T03:39:59.788163Z');
INSERT INTO "server_notices" VALUES(3,'task_842a59ce21e0','question','q_754c9a447bb7','Which database?','[]',1,'2026-11-18T03:40:09.986818Z','2026-11-18T03:39:59.814330Z');
INSERT INTO "server_notices" VALUES(4,'task_76bdea95ed51','dependency','dep_ff70f52a5f2e','api_key STRIPE_KEY: for payments','[]',1,'2026-11-18T03:40:09.988626Z','2026-11-18T03:39:59.911455Z');
INSERT INTO "server_notices" VALUES(5,'task_1ca72a816e8b','dependency','dep_8d926ee1cc7a','api_key STRIPE_KEY: for payments','[]',1,'2026-11-18T03:40:10.047628Z','2026-11-18T03:39:59.961186Z');
INSERT INTO "server_notices" VALUES(6,'task_03fd4b8e15df','failed',NULL,'it cannot be done','[]',1,'2026-11-18T03:40:10.048139Z','2026-11-18T03:39:59.981553Z');
INSERT INTO "server_notices" VALUES(7,'task_e97ebf9a1a72','trouble',NULL,'it waits for task_03fd4b8e15df, which failed: retry that, start without it, or fail this one','[]',1,'2026-11-18T03:40:10.048963Z','2026-11-18T03:39:59.981553Z');
INSERT INTO "server_notices" VALUES(8,'task_483b3c56c9dd','review','rev_877c0a6565f1','done phase one: p1','[]',1,'2026-11-18T03:40:10.091313Z','2026-11-18T03:40:00.060542Z');
INSERT INTO "server_notices" VALUES(9,'task_eca232a08b85','review','rev_68185aeab024','archived: p1','[]',1,'2026-11-18T03:40:10.120372Z','2026-11-18T03:40:00.085812Z');
INSERT INTO "server_notices" VALUES(10,'task_1ca72a816e8b','review','rev_5aa011a36992','was given: p1','[]',1,'2026-11-18T03:40:10.279009Z','2026-11-18T03:40:00.257127Z');
INSERT INTO "server_notices" VALUES(11,'task_7056d3aea55a','failed',NULL,'cancelled','[]',1,'2026-11-18T03:40:10.306767Z','2026-11-18T03:40:00.290156Z');
INSERT INTO "server_notices" VALUES(12,'task_483b3c56c9dd','trouble',NULL,'it reported phase 1 complete, which is not the current one: not counted','[]',1,'2026-11-18T03:40:10.382558Z','2026-11-18T03:40:00.333632Z');
INSERT INTO "server_notices" VALUES(13,'task_eca232a08b85','completed',NULL,'archived','[]',1,'2026-11-18T03:40:10.402198Z','2026-11-18T03:40:00.355919Z');
INSERT INTO "server_notices" VALUES(14,'task_483b3c56c9dd','failed',NULL,'it reported phase 1 complete, which is not the current one: not counted: === PHASE 1 COMPLETE afba91 ===','[]',1,'2026-11-18T03:40:10.407875Z','2026-11-18T03:40:00.381220Z');
INSERT INTO "server_notices" VALUES(15,'task_f04c70a3fc8b','review','rev_c51006316554','in review: p1','[]',1,'2026-11-18T03:40:10.573284Z','2026-11-18T03:40:00.548183Z');
CREATE TABLE server_replies (
    key        TEXT PRIMARY KEY,
    request    TEXT NOT NULL,                   -- a digest of method, path and body
    status     INTEGER NOT NULL,
    body       TEXT NOT NULL,
    created_at TEXT NOT NULL
);
INSERT INTO "server_replies" VALUES('key-1','943631f55fe90e51b978a3d8634d2127711ed9f075b6f714be6a1820034de09b',201,'{"id":"task_4e4803987475","status":"draft","type":"one","title":"replied","description":"d","agent":"good","priority":0,"dependsOn":[],"waitsFor":[],"currentPhase":null,"totalPhases":1,"progress":0,"currentStep":null,"createdAt":"2026-11-18T03:40:00.050Z","submittedAt":null,"startedAt":null,"completedAt":null,"failedAt":null,"updatedAt":"2026-11-18T03:40:00.050Z","workspace":null,"retryOf":null,"forkedFrom":null,"error":null,"outcome":null,"archived":false,"agentStatus":"idle","allowedActions":["submit","delete"],"usage":{"inputTokens":0,"outputTokens":0,"costUsd":null}}','2026-11-18T03:40:00.050419Z');
CREATE TABLE server_restorations (
    task       TEXT PRIMARY KEY REFERENCES server_tasks (id) ON DELETE CASCADE,
    snapshot   TEXT NOT NULL,
    created_at TEXT NOT NULL
);
CREATE TABLE server_runs (
    id            TEXT PRIMARY KEY,
    task          TEXT NOT NULL REFERENCES server_tasks (id) ON DELETE CASCADE,
    phase         INTEGER NOT NULL,
    purpose       TEXT NOT NULL,                -- work, check (a command), review (another agent)
    attempt       INTEGER NOT NULL,
    agent         TEXT NOT NULL,
    account       TEXT NOT NULL,
    state         TEXT NOT NULL,
    version       INTEGER NOT NULL DEFAULT 1,
    conversation  TEXT NOT NULL,
    resume_id     TEXT,
    nonce         TEXT NOT NULL,
    resumes       TEXT,
    prompt        TEXT,                         -- what it is told, until it was
    queued        INTEGER,                      -- bytes it had not read when that was about to be sent
    heard         INTEGER NOT NULL DEFAULT 0,   -- how much of what it told was acted on
    keeper        INTEGER,
    keeper_started INTEGER,
    exit_code     INTEGER,
    error         TEXT,
    input_tokens  INTEGER,
    output_tokens INTEGER,
    cost_usd      REAL,
    created_at    TEXT NOT NULL,
    updated_at    TEXT NOT NULL
);
INSERT INTO "server_runs" VALUES('task_06b8ce744f41-ee5308e7','task_06b8ce744f41',1,'work',1,'works','works','running',2,'d43f579f0ecd5072',NULL,'05025c',NULL,NULL,NULL,0,19171,71896,NULL,NULL,NULL,NULL,NULL,'2026-11-18T03:39:59.671806Z','2026-11-18T03:39:59.683786Z');
INSERT INTO "server_runs" VALUES('task_76099415ec81-292f8a59','task_76099415ec81',1,'work',1,'limited','limited','completed',3,'0843e437ec8603f8',NULL,'621b99',NULL,NULL,NULL,0,19173,71897,0,NULL,NULL,NULL,NULL,'2026-11-18T03:39:59.679188Z','2026-11-18T03:39:59.737599Z');
INSERT INTO "server_runs" VALUES('task_9e4a0775d415-1c5e231d','task_9e4a0775d415',1,'work',1,'works','works','running',2,'a740dcf02b3c38cf',NULL,'b6a8d8',NULL,NULL,NULL,0,19179,71898,NULL,NULL,NULL,NULL,NULL,'2026-11-18T03:39:59.691524Z','2026-11-18T03:39:59.707680Z');
INSERT INTO "server_runs" VALUES('task_be52852fec2f-35b25800','task_be52852fec2f',1,'work',1,'good','good','completed',3,'5cbffae4b8a96069',NULL,'c56492',NULL,NULL,NULL,0,19185,71899,0,NULL,NULL,NULL,NULL,'2026-11-18T03:39:59.702901Z','2026-11-18T03:39:59.793540Z');
INSERT INTO "server_runs" VALUES('task_842a59ce21e0-3e31de9c','task_842a59ce21e0',1,'work',1,'asks','asks','asked',3,'cd94cfef7a938b7e',NULL,'b56320',NULL,NULL,NULL,0,19173,71897,0,NULL,NULL,NULL,NULL,'2026-11-18T03:39:59.747451Z','2026-11-18T03:39:59.814412Z');
INSERT INTO "server_runs" VALUES('task_76bdea95ed51-a76f875f','task_76bdea95ed51',1,'work',1,'needs','needs','asked',3,'d725768138318d43',NULL,'f27837',NULL,NULL,NULL,0,19173,71897,0,NULL,NULL,NULL,NULL,'2026-11-18T03:39:59.801510Z','2026-11-18T03:39:59.911518Z');
INSERT INTO "server_runs" VALUES('task_1ca72a816e8b-1ca302c0','task_1ca72a816e8b',1,'work',1,'needs','needs','asked',3,'569df33afaa2dcaf',NULL,'edefcc',NULL,NULL,NULL,0,19173,71897,0,NULL,NULL,NULL,NULL,'2026-11-18T03:39:59.881792Z','2026-11-18T03:39:59.961241Z');
INSERT INTO "server_runs" VALUES('task_03fd4b8e15df-41cf2980','task_03fd4b8e15df',1,'work',1,'fails','fails','completed',3,'ce8a205590301561',NULL,'670f27',NULL,NULL,NULL,0,19173,71897,0,NULL,NULL,NULL,NULL,'2026-11-18T03:39:59.934405Z','2026-11-18T03:39:59.981899Z');
INSERT INTO "server_runs" VALUES('task_7056d3aea55a-11653212','task_7056d3aea55a',1,'work',1,'works','works','cut_off',3,'716091717b622f06',NULL,'6dcc25',NULL,NULL,NULL,0,19173,71897,NULL,NULL,NULL,NULL,NULL,'2026-11-18T03:39:59.992027Z','2026-11-18T03:40:00.290287Z');
INSERT INTO "server_runs" VALUES('task_483b3c56c9dd-fbd31be1','task_483b3c56c9dd',1,'work',1,'good','good','completed',3,'d550aee9c25a044f',NULL,'afba91',NULL,NULL,NULL,0,19185,71899,0,NULL,NULL,NULL,NULL,'2026-11-18T03:40:00.005632Z','2026-11-18T03:40:00.062904Z');
INSERT INTO "server_runs" VALUES('task_eca232a08b85-4e565543','task_eca232a08b85',1,'work',1,'good','good','completed',3,'b8024bd48c9ee4ea',NULL,'52142e',NULL,NULL,NULL,0,19185,71899,0,NULL,NULL,NULL,NULL,'2026-11-18T03:40:00.025305Z','2026-11-18T03:40:00.088699Z');
INSERT INTO "server_runs" VALUES('task_1ca72a816e8b-0b4c6492','task_1ca72a816e8b',1,'work',1,'needs','needs','completed',3,'569df33afaa2dcaf',NULL,'edefcc','task_1ca72a816e8b-1ca302c0',NULL,NULL,0,19185,71899,0,NULL,NULL,NULL,NULL,'2026-11-18T03:40:00.224234Z','2026-11-18T03:40:00.262895Z');
INSERT INTO "server_runs" VALUES('task_483b3c56c9dd-48a4f6fd','task_483b3c56c9dd',2,'work',1,'good','good','failed',3,'d550aee9c25a044f',NULL,'afba91','task_483b3c56c9dd-fbd31be1',NULL,NULL,0,19173,71897,0,'it reported phase 1 complete, which is not the current one: not counted',NULL,NULL,NULL,'2026-11-18T03:40:00.307959Z','2026-11-18T03:40:00.337068Z');
INSERT INTO "server_runs" VALUES('task_483b3c56c9dd-0cfa2fd5','task_483b3c56c9dd',2,'work',1,'good','good','failed',3,'d550aee9c25a044f',NULL,'afba91','task_483b3c56c9dd-48a4f6fd',NULL,NULL,0,19173,71897,0,'it reported phase 1 complete, which is not the current one: not counted',NULL,NULL,NULL,'2026-11-18T03:40:00.342947Z','2026-11-18T03:40:00.380143Z');
INSERT INTO "server_runs" VALUES('task_f04c70a3fc8b-d7de2396','task_f04c70a3fc8b',1,'work',1,'good','good','completed',3,'bc2d4d7810d515c3',NULL,'f93275',NULL,NULL,NULL,0,19173,71897,0,NULL,NULL,NULL,NULL,'2026-11-18T03:40:00.511797Z','2026-11-18T03:40:00.554897Z');
CREATE TABLE server_secrets (
    task       TEXT NOT NULL REFERENCES server_tasks (id) ON DELETE CASCADE,
    name       TEXT NOT NULL,
    value      BLOB NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (task, name)
);
INSERT INTO "server_secrets" VALUES('task_1ca72a816e8b','STRIPE_KEY',X'74312E66436C495739554445517633662D676C7952434D67673D3D2E67414141414142715F523451475534393732724F31673467724D3535344E5244644B6B51526468653665317250584F515254345A766D7A76464B6B756E4E4A4C61426E33714E4668506F725F65586E43676444535F56324F4E596A767354494D4E6C2D384A5A4F346A676E4D714F6F2D442D7931444E553D','2026-11-18T03:40:00.172292Z');
CREATE TABLE server_settings (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL                         -- JSON
);
INSERT INTO "server_settings" VALUES('slots','9');
CREATE TABLE server_tasks (
    id           TEXT PRIMARY KEY,
    title        TEXT NOT NULL,
    description  TEXT NOT NULL,
    type         TEXT NOT NULL,
    agent        TEXT NOT NULL,                 -- its name in the settings
    priority     INTEGER NOT NULL DEFAULT 0,    -- higher first
    depends_on   TEXT NOT NULL DEFAULT '[]',    -- JSON list of ids
    state        TEXT NOT NULL,
    version      INTEGER NOT NULL DEFAULT 1,
    phase        INTEGER,                       -- the current one, from 1; none before it begins
    phases       TEXT NOT NULL DEFAULT '[]',    -- as its type was when it was submitted (JSON)
    reworks      INTEGER NOT NULL DEFAULT 0,    -- of the current phase, by failed verification
    reminders    INTEGER NOT NULL DEFAULT 0,    -- ends without a marker in the current phase
    workspace    TEXT,
    retry_of     TEXT,
    forked_from  TEXT,
    error        TEXT,
    is_archived  INTEGER NOT NULL DEFAULT 0,
    submitted_at TEXT,
    started_at   TEXT,
    completed_at TEXT,
    failed_at    TEXT,
    created_at   TEXT NOT NULL,
    updated_at   TEXT NOT NULL
, before TEXT, is_cancelled INTEGER NOT NULL DEFAULT 0);
INSERT INTO "server_tasks" VALUES('task_cebb67228262','a draft','Do it.','one','good',0,'[]','draft',1,NULL,'[{"name": "p1", "deliverables": ["one.md"], "min_chars": 0, "verify": null, "reviewer": null, "steps": []}]',0,0,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,'2026-11-18T03:39:59.663385Z','2026-11-18T03:39:59.663385Z',NULL,0);
INSERT INTO "server_tasks" VALUES('task_06b8ce744f41','at work','Do it.','one','works',3,'[]','in_progress',3,1,'[{"name": "p1", "deliverables": ["one.md"], "min_chars": 0, "verify": null, "reviewer": null, "steps": []}]',0,0,'@TMP@/project/.segue/server/workspaces/task_06b8ce744f41',NULL,NULL,NULL,0,'2026-11-18T03:39:59.666669Z','2026-11-18T03:39:59.671356Z',NULL,NULL,'2026-11-18T03:39:59.666691Z','2026-11-18T03:39:59.671806Z',NULL,0);
INSERT INTO "server_tasks" VALUES('task_76099415ec81','at a limit','Do it.','one','limited',0,'[]','in_progress',3,1,'[{"name": "p1", "deliverables": ["one.md"], "min_chars": 0, "verify": null, "reviewer": null, "steps": []}]',0,0,'@TMP@/project/.segue/server/workspaces/task_76099415ec81',NULL,NULL,NULL,0,'2026-11-18T03:39:59.676236Z','2026-11-18T03:39:59.678881Z',NULL,NULL,'2026-11-18T03:39:59.676255Z','2026-11-18T03:39:59.679188Z',NULL,0);
INSERT INTO "server_tasks" VALUES('task_9e4a0775d415','paused by a person','Do it.','one','works',0,'[]','in_progress',3,1,'[{"name": "p1", "deliverables": ["one.md"], "min_chars": 0, "verify": null, "reviewer": null, "steps": []}]',0,0,'@TMP@/project/.segue/server/workspaces/task_9e4a0775d415',NULL,NULL,NULL,0,'2026-11-18T03:39:59.687401Z','2026-11-18T03:39:59.691227Z',NULL,NULL,'2026-11-18T03:39:59.687414Z','2026-11-18T03:39:59.691524Z',NULL,0);
INSERT INTO "server_tasks" VALUES('task_be52852fec2f','in review','Do it.','one','good',0,'[]','review',4,1,'[{"name": "p1", "deliverables": ["one.md"], "min_chars": 0, "verify": null, "reviewer": null, "steps": []}]',0,0,'@TMP@/project/.segue/server/workspaces/task_be52852fec2f',NULL,NULL,NULL,0,'2026-11-18T03:39:59.695857Z','2026-11-18T03:39:59.702565Z',NULL,NULL,'2026-11-18T03:39:59.695872Z','2026-11-18T03:39:59.793540Z',NULL,0);
INSERT INTO "server_tasks" VALUES('task_842a59ce21e0','asks','Do it.','one','asks',0,'[]','in_progress',3,1,'[{"name": "p1", "deliverables": ["one.md"], "min_chars": 0, "verify": null, "reviewer": null, "steps": []}]',0,0,'@TMP@/project/.segue/server/workspaces/task_842a59ce21e0',NULL,NULL,NULL,0,'2026-11-18T03:39:59.715347Z','2026-11-18T03:39:59.747153Z',NULL,NULL,'2026-11-18T03:39:59.715361Z','2026-11-18T03:39:59.747451Z',NULL,0);
INSERT INTO "server_tasks" VALUES('task_76bdea95ed51','needs','Do it.','one','needs',0,'[]','in_progress',3,1,'[{"name": "p1", "deliverables": ["one.md"], "min_chars": 0, "verify": null, "reviewer": null, "steps": []}]',0,0,'@TMP@/project/.segue/server/workspaces/task_76bdea95ed51',NULL,NULL,NULL,0,'2026-11-18T03:39:59.768410Z','2026-11-18T03:39:59.801204Z',NULL,NULL,'2026-11-18T03:39:59.768437Z','2026-11-18T03:39:59.801510Z',NULL,0);
INSERT INTO "server_tasks" VALUES('task_1ca72a816e8b','was given','Do it.','one','needs',0,'[]','review',4,1,'[{"name": "p1", "deliverables": ["one.md"], "min_chars": 0, "verify": null, "reviewer": null, "steps": []}]',0,0,'@TMP@/project/.segue/server/workspaces/task_1ca72a816e8b',NULL,NULL,NULL,0,'2026-11-18T03:39:59.827773Z','2026-11-18T03:39:59.881409Z',NULL,NULL,'2026-11-18T03:39:59.827805Z','2026-11-18T03:40:00.262895Z',NULL,0);
INSERT INTO "server_tasks" VALUES('task_03fd4b8e15df','fails','Do it.','one','fails',0,'[]','failed',4,1,'[{"name": "p1", "deliverables": ["one.md"], "min_chars": 0, "verify": null, "reviewer": null, "steps": []}]',0,0,'@TMP@/project/.segue/server/workspaces/task_03fd4b8e15df',NULL,NULL,'it cannot be done',0,'2026-11-18T03:39:59.923563Z','2026-11-18T03:39:59.934070Z',NULL,'2026-11-18T03:39:59.981553Z','2026-11-18T03:39:59.923583Z','2026-11-18T03:39:59.981899Z',NULL,0);
INSERT INTO "server_tasks" VALUES('task_e97ebf9a1a72','waits in vain','Do it.','one','good',0,'["task_03fd4b8e15df"]','pending',2,NULL,'[{"name": "p1", "deliverables": ["one.md"], "min_chars": 0, "verify": null, "reviewer": null, "steps": []}]',0,0,NULL,NULL,NULL,NULL,0,'2026-11-18T03:39:59.969632Z',NULL,NULL,NULL,'2026-11-18T03:39:59.970030Z','2026-11-18T03:39:59.970030Z',NULL,0);
INSERT INTO "server_tasks" VALUES('task_7056d3aea55a','cancelled','Do it.','one','works',0,'[]','failed',4,1,'[{"name": "p1", "deliverables": ["one.md"], "min_chars": 0, "verify": null, "reviewer": null, "steps": []}]',0,0,'@TMP@/project/.segue/server/workspaces/task_7056d3aea55a',NULL,NULL,'cancelled',0,'2026-11-18T03:39:59.984439Z','2026-11-18T03:39:59.991085Z',NULL,'2026-11-18T03:40:00.290156Z','2026-11-18T03:39:59.984454Z','2026-11-18T03:40:00.290287Z',NULL,1);
INSERT INTO "server_tasks" VALUES('task_483b3c56c9dd','done phase one','Do it.','two','good',0,'[]','failed',6,2,'[{"name": "p1", "deliverables": ["one.md"], "min_chars": 0, "verify": null, "reviewer": null, "steps": []}, {"name": "p2", "deliverables": ["two.md"], "min_chars": 0, "verify": null, "reviewer": null, "steps": []}]',0,1,'@TMP@/project/.segue/server/workspaces/task_483b3c56c9dd',NULL,NULL,'it reported phase 1 complete, which is not the current one: not counted: === PHASE 1 COMPLETE afba91 ===',0,'2026-11-18T03:40:00.001492Z','2026-11-18T03:40:00.005348Z',NULL,'2026-11-18T03:40:00.381220Z','2026-11-18T03:40:00.001511Z','2026-11-18T03:40:00.381310Z',NULL,0);
INSERT INTO "server_tasks" VALUES('task_eca232a08b85','archived','Do it.','one','good',0,'[]','completed',5,1,'[{"name": "p1", "deliverables": ["one.md"], "min_chars": 0, "verify": null, "reviewer": null, "steps": []}]',0,0,'@TMP@/project/.segue/server/workspaces/task_eca232a08b85',NULL,NULL,NULL,1,'2026-11-18T03:40:00.009794Z','2026-11-18T03:40:00.024923Z','2026-11-18T03:40:00.355919Z',NULL,'2026-11-18T03:40:00.009820Z','2026-11-18T03:40:00.355952Z',NULL,0);
INSERT INTO "server_tasks" VALUES('task_4e4803987475','replied','d','one','good',0,'[]','draft',1,NULL,'[{"name": "p1", "deliverables": ["one.md"], "min_chars": 0, "verify": null, "reviewer": null, "steps": []}]',0,0,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,'2026-11-18T03:40:00.050284Z','2026-11-18T03:40:00.050284Z',NULL,0);
INSERT INTO "server_tasks" VALUES('task_f04c70a3fc8b','in review','Do it.','one','good',0,'[]','review',4,1,'[{"name": "p1", "deliverables": ["one.md"], "min_chars": 0, "verify": null, "reviewer": null, "steps": []}]',0,0,'@TMP@/project/.segue/server/workspaces/task_f04c70a3fc8b',NULL,'task_be52852fec2f',NULL,0,'2026-11-18T03:40:00.413727Z','2026-11-18T03:40:00.511693Z',NULL,NULL,'2026-11-18T03:40:00.502956Z','2026-11-18T03:40:00.554897Z','- files of the current phase: one.md',0);
INSERT INTO "server_tasks" VALUES('task_bb6f7a95932d','fails','Do it.','one','fails',0,'[]','draft',1,NULL,'[{"name": "p1", "deliverables": ["one.md"], "min_chars": 0, "verify": null, "reviewer": null, "steps": []}]',0,0,NULL,'task_03fd4b8e15df',NULL,NULL,0,NULL,NULL,NULL,NULL,'2026-11-18T03:40:00.530977Z','2026-11-18T03:40:00.530977Z',NULL,0);
CREATE TABLE server_timers (
    id      TEXT PRIMARY KEY,                   -- what it is for, so that there is one
    task    TEXT NOT NULL REFERENCES server_tasks (id) ON DELETE CASCADE,
    kind    TEXT NOT NULL,                      -- wake, deadline, remind, urgent, escalate, save
    gate    TEXT,
    at      TEXT NOT NULL
);
INSERT INTO "server_timers" VALUES('save:task_06b8ce744f41','task_06b8ce744f41','save',NULL,'2026-11-18T03:49:59.671356Z');
INSERT INTO "server_timers" VALUES('save:task_76099415ec81','task_76099415ec81','save',NULL,'2026-11-18T03:49:59.678881Z');
INSERT INTO "server_timers" VALUES('save:task_9e4a0775d415','task_9e4a0775d415','save',NULL,'2026-11-18T03:49:59.691227Z');
INSERT INTO "server_timers" VALUES('save:task_be52852fec2f','task_be52852fec2f','save',NULL,'2026-11-18T03:49:59.702565Z');
INSERT INTO "server_timers" VALUES('wake:task_76099415ec81','task_76099415ec81','wake',NULL,'2026-11-18T04:39:59.737501Z');
INSERT INTO "server_timers" VALUES('save:task_842a59ce21e0','task_842a59ce21e0','save',NULL,'2026-11-18T03:49:59.747153Z');
INSERT INTO "server_timers" VALUES('remind:rev_b9a4fba6fab5','task_be52852fec2f','remind','rev_b9a4fba6fab5','2026-11-19T03:39:59.788163Z');
INSERT INTO "server_timers" VALUES('urgent:rev_b9a4fba6fab5','task_be52852fec2f','urgent','rev_b9a4fba6fab5','2026-11-20T03:39:59.788163Z');
INSERT INTO "server_timers" VALUES('escalate:rev_b9a4fba6fab5','task_be52852fec2f','escalate','rev_b9a4fba6fab5','2026-11-21T03:39:59.788163Z');
INSERT INTO "server_timers" VALUES('save:task_76bdea95ed51','task_76bdea95ed51','save',NULL,'2026-11-18T03:49:59.801204Z');
INSERT INTO "server_timers" VALUES('remind:q_754c9a447bb7','task_842a59ce21e0','remind','q_754c9a447bb7','2026-11-19T03:39:59.814330Z');
INSERT INTO "server_timers" VALUES('urgent:q_754c9a447bb7','task_842a59ce21e0','urgent','q_754c9a447bb7','2026-11-20T03:39:59.814330Z');
INSERT INTO "server_timers" VALUES('escalate:q_754c9a447bb7','task_842a59ce21e0','escalate','q_754c9a447bb7','2026-11-21T03:39:59.814330Z');
INSERT INTO "server_timers" VALUES('save:task_1ca72a816e8b','task_1ca72a816e8b','save',NULL,'2026-11-18T03:49:59.881409Z');
INSERT INTO "server_timers" VALUES('remind:dep_ff70f52a5f2e','task_76bdea95ed51','remind','dep_ff70f52a5f2e','2026-11-19T03:39:59.911455Z');
INSERT INTO "server_timers" VALUES('urgent:dep_ff70f52a5f2e','task_76bdea95ed51','urgent','dep_ff70f52a5f2e','2026-11-20T03:39:59.911455Z');
INSERT INTO "server_timers" VALUES('escalate:dep_ff70f52a5f2e','task_76bdea95ed51','escalate','dep_ff70f52a5f2e','2026-11-21T03:39:59.911455Z');
INSERT INTO "server_timers" VALUES('remind:rev_5aa011a36992','task_1ca72a816e8b','remind','rev_5aa011a36992','2026-11-19T03:40:00.257127Z');
INSERT INTO "server_timers" VALUES('urgent:rev_5aa011a36992','task_1ca72a816e8b','urgent','rev_5aa011a36992','2026-11-20T03:40:00.257127Z');
INSERT INTO "server_timers" VALUES('escalate:rev_5aa011a36992','task_1ca72a816e8b','escalate','rev_5aa011a36992','2026-11-21T03:40:00.257127Z');
INSERT INTO "server_timers" VALUES('save:task_f04c70a3fc8b','task_f04c70a3fc8b','save',NULL,'2026-11-18T03:50:00.511693Z');
INSERT INTO "server_timers" VALUES('remind:rev_c51006316554','task_f04c70a3fc8b','remind','rev_c51006316554','2026-11-19T03:40:00.548183Z');
INSERT INTO "server_timers" VALUES('urgent:rev_c51006316554','task_f04c70a3fc8b','urgent','rev_c51006316554','2026-11-20T03:40:00.548183Z');
INSERT INTO "server_timers" VALUES('escalate:rev_c51006316554','task_f04c70a3fc8b','escalate','rev_c51006316554','2026-11-21T03:40:00.548183Z');
CREATE TABLE tasks (
    id           TEXT PRIMARY KEY,              -- plan/key
    plan         TEXT NOT NULL REFERENCES plans (id) ON DELETE CASCADE,
    key          TEXT NOT NULL,                 -- its id in the plan
    title        TEXT NOT NULL,
    state        TEXT NOT NULL,
    version      INTEGER NOT NULL DEFAULT 1,
    mark         TEXT,                          -- the state its mark in the file showed when last read or written
    retries_used INTEGER NOT NULL DEFAULT 0,
    error        TEXT,
    summary      TEXT,                          -- what it produced, for those that depend on it
    created_at   TEXT NOT NULL,
    updated_at   TEXT NOT NULL,
    UNIQUE (plan, key)
);
CREATE TABLE workers (
    id         TEXT PRIMARY KEY,                -- its host, server and pane, and the pane's first process
    pane       TEXT NOT NULL,                   -- as its host calls it
    agent      TEXT NOT NULL,
    account    TEXT NOT NULL,
    state      TEXT NOT NULL,
    version    INTEGER NOT NULL DEFAULT 1,
    kind       TEXT,                            -- of the limit that stopped it
    evidence   TEXT,                            -- the line that said so
    resets_at  TEXT,
    wakes_at   TEXT,                            -- none: it is left alone
    sends      INTEGER NOT NULL DEFAULT 0,      -- tries to resume it since it stopped
    sent_at    TEXT,                            -- the last of them, written before it is made
    step       TEXT NOT NULL DEFAULT '',        -- what that try was about to send
    windows    INTEGER NOT NULL DEFAULT 0,      -- limits it has waited through
    is_held    INTEGER NOT NULL DEFAULT 0,      -- a person wants it left alone
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);
CREATE INDEX runs_by_task ON runs (task);
CREATE INDEX runs_open ON runs (plan) WHERE state IN ('intended', 'running', 'verifying', 'merging');
CREATE INDEX parks_waiting ON parks (wakes_at) WHERE state = 'waiting';
CREATE INDEX gates_open ON gates (plan) WHERE state = 'open';
CREATE INDEX journal_by_entity ON journal (entity_id);
CREATE INDEX server_tasks_by_state ON server_tasks (state, created_at);
CREATE INDEX server_tasks_by_age ON server_tasks (created_at);
CREATE INDEX server_agents_by_state ON server_agents (state);
CREATE INDEX server_runs_by_task ON server_runs (task);
CREATE INDEX server_runs_open ON server_runs (state) WHERE state IN ('intended', 'running');
CREATE INDEX server_gates_by_task ON server_gates (task);
CREATE INDEX server_gates_open ON server_gates (kind, created_at) WHERE state = 'pending';
CREATE INDEX server_timers_due ON server_timers (at);
CREATE INDEX server_checkpoints_by_task ON server_checkpoints (task, created_at);
CREATE INDEX server_notices_due ON server_notices (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX server_gates_waiting ON server_gates (priority DESC, created_at)
    WHERE state = 'pending';
CREATE INDEX notices_due ON notices (work, next_at) WHERE next_at IS NOT NULL;
CREATE INDEX server_tasks_by_retry ON server_tasks (retry_of) WHERE retry_of IS NOT NULL;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('journal',150);
INSERT INTO "sqlite_sequence" VALUES('server_notices',15);
COMMIT;
PRAGMA user_version = 8;
