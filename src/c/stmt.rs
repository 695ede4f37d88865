//! Statements, and the gaps between them where fences can be typed.

use super::Repair;
use super::access::Order;
use super::lowering::{Lowering, Read};
use super::operand::{Val, binary, equal, less, not};
use super::types::Type;
use crate::program::{BinaryOp, Expr, FenceKind, FenceSite, Instr, Loc, LocalId, Side};
use crate::source::Span;
use lang_c::ast::*;
use lang_c::span::{Node, Span as Piece};

impl<'a> Lowering<'a> {
    /// The statements of a block with a gap before, between and after them.
    pub fn block(&mut self, items: &'a [Node<BlockItem>], piece: Piece) -> Read<()> {
        self.gap(piece);
        if items.is_empty() {
            self.site(Side::Inside, piece, None);
        }
        for (at, item) in items.iter().enumerate() {
            self.site(Side::Before, item.span, None);
            self.choice = match items.get(at + 1) {
                Some(next) => self.assumed(item, next)?,
                None => None,
            };
            self.block_item(item)?;
            self.gap(item.span);
            self.site(Side::After, item.span, None);
        }
        Ok(())
    }

    /// A location at which a fence can be typed.
    fn gap(&mut self, piece: Piece) {
        let gap = self.code.location();
        let span = self.span(piece);
        self.code.pass_to(gap, span);
    }

    /// Says that a fence typed next to a statement stands here.
    fn site(&mut self, side: Side, piece: Piece, body: Option<Piece>) {
        let fences = self.options.repair != Repair::Orders;
        if !fences || self.text.in_system_header(piece.start as u32) {
            return;
        }
        let exact = |piece: Piece| {
            let located = self.text.locate(Span::new(piece.start, piece.end));
            located.is_exact().then_some(located.span)
        };
        let Some(statement) = exact(piece) else {
            return;
        };
        let body = match body.map(exact) {
            Some(None) => return,
            body => body.flatten(),
        };
        let at = self.code.at.index();
        self.code.sites[at].push(FenceSite {
            side,
            statement,
            body,
        });
    }

    /// A location at which a store's memory order, which was typed as `order`, can be made
    /// stronger.
    pub fn order_site(&mut self, side: Side, order: Piece) {
        if self.options.repair == Repair::Fences {
            return;
        }
        let located = self.text.locate(Span::new(order.start, order.end));
        if located.is_exact() && !self.text.in_system_header(order.start as u32) {
            self.gap(order);
            let at = self.code.at.index();
            self.code.sites[at].push(FenceSite {
                side,
                statement: located.span,
                body: None,
            });
        }
    }

    pub fn block_item(&mut self, item: &'a Node<BlockItem>) -> Read<()> {
        let mark = self.code.mark();
        match &item.node {
            BlockItem::Declaration(declaration) => self.declaration(declaration)?,
            BlockItem::StaticAssert(_) => {}
            BlockItem::Statement(statement) => self.statement(statement)?,
        }
        self.code.release(mark);
        Ok(())
    }

    /// The body of an `if` or loop: a block, or a single statement that counts as one.
    fn body(&mut self, body: &'a Node<Statement>) -> Read<()> {
        if let Statement::Compound(items) = &body.node {
            return self.scoped(|this| this.block(items, body.span));
        }
        self.gap(body.span);
        self.site(Side::Before, body.span, Some(body.span));
        self.statement(body)?;
        self.gap(body.span);
        self.site(Side::After, body.span, Some(body.span));
        Ok(())
    }

    fn statement(&mut self, statement: &'a Node<Statement>) -> Read<()> {
        let piece = statement.span;
        let span = self.span(piece);
        let mark = self.code.mark();
        match &statement.node {
            Statement::Labeled(labelled) => self.labelled(&labelled.node, piece)?,
            Statement::Compound(items) => self.scoped(|this| this.block(items, piece))?,
            Statement::Expression(None) => {}
            Statement::Expression(Some(value)) => self.effect(value)?,
            Statement::If(choice) => {
                let choice = &choice.node;
                let (yes, no, end) = (
                    self.code.location(),
                    self.code.location(),
                    self.code.location(),
                );
                self.condition(&choice.condition, yes, no)?;
                self.code.at = yes;
                self.body(&choice.then_statement)?;
                self.code.pass_to(end, span);
                self.code.at = no;
                if let Some(otherwise) = &choice.else_statement {
                    self.body(otherwise)?;
                }
                self.code.pass_to(end, span);
            }
            Statement::Switch(switch) => self.switch(&switch.node, span)?,
            Statement::While(repeat) => {
                let (head, inside, end) = self.loop_locations(span);
                self.condition(&repeat.node.expression, inside, end)?;
                self.loop_body(&repeat.node.statement, inside, end, head)?;
                self.code.pass_to(head, span);
                self.end_loop(end);
            }
            Statement::DoWhile(repeat) => {
                let (head, test, end) = self.loop_locations(span);
                self.loop_body(&repeat.node.statement, head, end, test)?;
                self.code.pass_to(test, span);
                self.condition(&repeat.node.expression, head, end)?;
                self.end_loop(end);
            }
            Statement::For(repeat) => {
                let repeat = &repeat.node;
                self.scoped(|this| {
                    match &repeat.initializer.node {
                        ForInitializer::Empty | ForInitializer::StaticAssert(_) => {}
                        ForInitializer::Expression(value) => this.effect(value)?,
                        ForInitializer::Declaration(declaration) => {
                            this.declaration(declaration)?;
                        }
                    }
                    let (head, inside, end) = this.loop_locations(span);
                    let next = this.code.location();
                    match &repeat.condition {
                        Some(condition) => this.condition(condition, inside, end)?,
                        None => this.code.pass_to(inside, span),
                    }
                    this.loop_body(&repeat.statement, inside, end, next)?;
                    this.code.pass_to(next, span);
                    if let Some(step) = &repeat.step {
                        this.effect(step)?;
                    }
                    this.code.pass_to(head, span);
                    this.end_loop(end);
                    Ok(())
                })?;
            }
            Statement::Goto(label) => {
                let target = self.label(&label.node.name);
                self.code.jump(target, span);
            }
            Statement::Continue => match self.frame().continues.last().copied() {
                Some(target) => self.code.jump(target, span),
                None => return self.error(piece, "there is no loop to continue"),
            },
            Statement::Break => match self.frame().breaks.last().copied() {
                Some(target) => self.code.jump(target, span),
                None => return self.error(piece, "there is nothing to break out of"),
            },
            Statement::Return(value) => {
                let value = match value {
                    Some(value) => Some((self.value(value)?, value.span)),
                    None => None,
                };
                let frame = self.frame();
                let (returns, result) = (frame.returns, frame.result.clone());
                if let (Some((value, at)), Some(result)) = (value, result) {
                    self.assign(&result, value, Order::Relaxed, at)?;
                }
                self.code.jump(returns, span);
            }
            Statement::Asm(asm) => self.assembly(&asm.node, piece)?,
        }
        self.code.release(mark);
        Ok(())
    }

    /// The head of a loop, where control goes on, and two more locations.
    fn loop_locations(&mut self, span: Span) -> (Loc, Loc, Loc) {
        let head = self.code.location();
        self.code.pass_to(head, span);
        self.repeated += 1;
        (head, self.code.location(), self.code.location())
    }

    fn loop_body(
        &mut self,
        body: &'a Node<Statement>,
        inside: Loc,
        end: Loc,
        again: Loc,
    ) -> Read<()> {
        self.code.at = inside;
        self.frame().breaks.push(end);
        self.frame().continues.push(again);
        let result = self.body(body);
        self.frame().breaks.pop();
        self.frame().continues.pop();
        result
    }

    fn end_loop(&mut self, end: Loc) {
        self.repeated -= 1;
        self.code.at = end;
    }

    /// The location of a label of the current function.
    fn label(&mut self, name: &str) -> Loc {
        if let Some(at) = self.frame().labels.get(name) {
            return *at;
        }
        let at = self.code.location();
        self.frame().labels.insert(name.to_string(), at);
        at
    }

    fn labelled(&mut self, labelled: &'a LabeledStatement, piece: Piece) -> Read<()> {
        let span = self.span(piece);
        let at = match &labelled.label.node {
            Label::Identifier(name) => self.label(&name.node.name),
            _ => match self.frame().cases.get(&labelled.label.span.start) {
                Some(at) => *at,
                None => return self.error(piece, "a case outside of a switch"),
            },
        };
        self.code.pass_to(at, span);
        self.statement(&labelled.statement)
    }

    fn switch(&mut self, switch: &'a SwitchStatement, span: Span) -> Read<()> {
        let value = self.value(&switch.expression)?;
        let piece = switch.expression.span;
        let Type::Int(number) = value.ty else {
            return self.error(piece, "a number is needed here");
        };
        let promoted = Type::Int(number.promoted());
        let value = self.converted(value, &promoted, piece)?;
        let value = self.kept(value, piece)?;
        let Val::Scalar(value, _) = value.value else {
            return self.error(piece, "a number is needed here");
        };
        let mut labels = Cases(Vec::new());
        lang_c::visit::Visit::visit_statement(
            &mut labels,
            &switch.statement.node,
            &switch.statement.span,
        );
        let end = self.code.location();
        let from = self.code.at;
        let mut default = None;
        let mut others = Expr::Const(1);
        for (label, at) in labels.0 {
            let here = self.code.location();
            self.frame().cases.insert(at, here);
            let matches = match label {
                Label::Identifier(_) => continue,
                Label::Default => {
                    default = Some(here);
                    continue;
                }
                Label::Case(case) => {
                    let case = self.constant(case)?;
                    equal(value.clone(), Expr::Const(number.promoted().int.wrap(case)))
                }
                Label::CaseRange(range) => {
                    let low = self.constant(&range.node.low)?;
                    let high = self.constant(&range.node.high)?;
                    let wide = number.promoted();
                    let above = less(wide, true, Expr::Const(low), value.clone());
                    let below = less(wide, true, value.clone(), Expr::Const(high));
                    binary(BinaryOp::And, above, below)
                }
            };
            others = binary(BinaryOp::And, others, not(matches.clone()));
            self.dispatch(from, here, matches, span);
        }
        self.dispatch(from, default.unwrap_or(end), others, span);
        self.code.at = self.code.location();
        self.frame().breaks.push(end);
        let result = self.body(&switch.statement);
        self.frame().breaks.pop();
        result?;
        self.code.pass_to(end, span);
        Ok(())
    }

    fn dispatch(&mut self, from: Loc, to: Loc, condition: Expr<LocalId>, span: Span) {
        let instr = match condition.constant() {
            Some(0) => return,
            Some(_) => Instr::Pass,
            None => Instr::Guard {
                condition,
                wanted: true,
            },
        };
        self.code.edge(from, to, instr, span);
    }

    /// Inline assembly: only fences and hints.
    fn assembly(&mut self, asm: &'a AsmStatement, piece: Piece) -> Read<()> {
        let (template, outputs) = match asm {
            AsmStatement::GnuBasic(template) => (&template.node, &[][..]),
            AsmStatement::GnuExtended(asm) => (&asm.template.node, &asm.outputs[..]),
        };
        // What is only read and written back stays as it is.
        let changes = |output: &Node<GnuAsmOperand>| {
            let constraints = output.node.constraints.node.concat();
            !constraints.trim_start_matches('"').starts_with('+')
        };
        if outputs.iter().any(changes) {
            return self.refuse(
                piece,
                "assembly that gives a variable a value is not read",
                "assign the value in C",
            );
        }
        let text: String = template.concat().replace('"', "");
        let text = text.replace("\\n", " ").replace("\\t", " ").to_lowercase();
        let words: Vec<&str> = text
            .split(|c: char| c.is_whitespace() || c == ';')
            .filter(|word| !word.is_empty())
            .collect();
        let kind = match words.as_slice() {
            [] | ["pause"] | ["nop"] | ["rep", "nop"] | ["lfence"] => return Ok(()),
            ["mfence"] => FenceKind::Full,
            ["sfence"] => FenceKind::StoreStore,
            ["membar", "#sync" | "#memissue"] => FenceKind::Full,
            ["membar", what] if what.contains("storeload") => FenceKind::Full,
            ["membar", what] if what.contains("storestore") => FenceKind::StoreStore,
            ["lock", "addl" | "addq" | "orl" | "orq", zero, ..] if zero.starts_with("$0") => {
                FenceKind::Full
            }
            _ => {
                return self.refuse(
                    piece,
                    "this assembly is not read",
                    "fences (mfence, sfence) and an empty text are; use <stdatomic.h> for the rest",
                );
            }
        };
        let span = self.span(piece);
        self.code.emit(Instr::Fence(kind), span);
        Ok(())
    }
}

/// The labels of a switch, those of switches inside it aside.
struct Cases<'ast>(Vec<(&'ast Label, usize)>);

impl<'ast> lang_c::visit::Visit<'ast> for Cases<'ast> {
    fn visit_label(&mut self, label: &'ast Label, at: &'ast Piece) {
        self.0.push((label, at.start));
    }

    fn visit_switch_statement(&mut self, _: &'ast SwitchStatement, _: &'ast Piece) {}

    fn visit_expression(&mut self, _: &'ast Expression, _: &'ast Piece) {}
}
